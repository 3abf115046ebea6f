import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.requirement.no_code import wants_no_code
from pipelines.requirement.types import Requirement, Source
from tests.pipelines.scenes import requirement


@pytest.mark.parametrize(
    "text",
    [
        "# Explain the retry logic\n\nDon't write any code.",
        "# Explain the retry logic\n\nDon’t create a pull request, please.",
        "# How does parse work?\n\nPlease just explain, no code.",
        "# Caching\n\nJust explain how the cache is invalidated (no code please).",
        "# Explore the repository and say what it does\n\nNo code changes needed.",
        "# Question only: what does load do?\n\nI wonder.",
        "# What is `load`?\n\nThis is just a question.",
        "# Explain the loader\n\n**Explain only!**",
        "# Where are limits checked?\n\nI don't need a PR.",
        "# Wie funktioniert der Parser?\n\nBitte nur erklären, keinen Code schreiben.",
        "# Warum zwei Schleifen?\n\nErkläre mir nur, warum das so ist. Kein Code nötig.",
        "# Comment marche le cache ?\n\nExpliquez seulement, pas de code s'il vous plaît.",
        "# Le cache\n\nExplique comment il marche. N'écrivez pas de code.",
        "# ¿Cómo funciona la caché?\n\nSolo explica cómo funciona. No escribas código, por favor.",
        "# La caché\n\nSólo explicar, sin código.",
    ],
)
def test_who_wants_only_an_answer_is_understood(text: str) -> None:
    assert wants_no_code(requirement(text))


@pytest.mark.parametrize(
    "text",
    [
        "# Double a number\n\nReturns twice its argument.",
        "# Add double\n\nJust explain it in the docstring.",
        "# Add double\n\nNo code, please, in `__init__.py`.",
        "# Add f\n\nNo code changes needed in callers.",
        "# Explain plan\n\nAdd `explain()`; no code.",
        "# Explain the retry logic\n\nWrite a function that does it. I don't want a PR.",
        "# Slugs\n\nI need a function for this. Don't write code that uses eval.",
        "# Slugs\n\nHow to shorten them?\n\n`slug('a b') == 'a-b'`\n\nNo code please.",
        "# Slugs\n\nJust explain.\n\n```python\ndef slug(text: str) -> str:\n    ...\n```",
        "# Code explainer\n\nThe tool should only explain code.",
        "# Ping server\n\nReply pong.\n\n- Only answer requests from localhost",
        "# Regex debugger\n\n- only explain why a match failed",
        "# Text summarizer\n\nOnly summarize the first paragraph.",
        "# Country lookup\n\nError: no code",
        "# Line counter\n\nThe class returns the number of lines without code.",
        "# Funktion double hinzufügen\n\nNur erklären, was sie tut, im Docstring.",
        "# Ajouter double\n\nExpliquez seulement dans la docstring.",
        "# Añadir doble\n\nSolo explica.",
    ],
)
def test_who_may_want_code_gets_code(text: str) -> None:
    assert not wants_no_code(requirement(text))


@given(st.text(max_size=400))
def test_any_text_is_decided(text: str) -> None:
    source = Source(path="issue", sha256="")
    assert wants_no_code(Requirement(title="", summary=text, body=text, source=source)) in (True, False)
