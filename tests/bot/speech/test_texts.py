import re
from pathlib import Path
from string import Formatter

import pytest

import bot
from bot.speech.texts import catalog, knows, languages, say

ENGLISH = catalog("en")
OTHERS = sorted(languages() - {"en"})


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def code(text: str) -> list[str]:
    return sorted(re.findall("`[^`]+`", text))


def test_the_languages_that_people_were_promised() -> None:
    assert languages() >= {"en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "uk", "tr", "ja", "zh", "ko"}


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalog_has_every_text_with_the_same_values_and_code(language: str) -> None:
    texts = catalog(language)
    assert texts.keys() == ENGLISH.keys()
    wrong = {
        key
        for key, text in texts.items()
        if placeholders(text) != placeholders(ENGLISH[key]) or code(text) != code(ENGLISH[key])
    }
    assert not wrong


@pytest.mark.parametrize("language", sorted(languages()))
def test_texts_are_one_line_of_plain_words(language: str) -> None:
    for key, text in catalog(language).items():
        assert text == " ".join(text.split()), key
        assert not re.search(r"[<>@#|*]|\bTODO\b", text), key
        filled = text.format(**dict.fromkeys(placeholders(text), "value"))
        assert not set("{}") & set(filled), key


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalog_is_really_translated(language: str) -> None:
    same = {key for key, text in catalog(language).items() if text == ENGLISH[key]}
    assert len(same) < len(ENGLISH) / 6, same
    assert not [key for key in same if ENGLISH[key].count(" ") > 2]


def test_values_are_filled_in_and_their_braces_stay() -> None:
    assert say("en", "reply.stopped", login="{x}") == "Stopped by {x}."
    assert say("de", "status.running") == "In Arbeit."


def test_a_text_that_lacks_a_value_or_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("en", "reply.stopped")
    with pytest.raises(KeyError):
        say("en", "reply.nonsense")


@pytest.mark.parametrize(
    ("language", "known"),
    [("sv", "en"), ("", "en"), ("pt-BR", "pt"), ("ZH_Hant", "zh"), ("../en", "en"), ("x" * 999, "en")],
)
def test_any_name_of_a_language_gives_a_catalog(language: str, known: str) -> None:
    assert catalog(language) == catalog(known)


def test_knows_tells_which_texts_there_are() -> None:
    assert knows("ja", "step.push")
    assert not knows("ja", "step.dance")


def test_every_text_that_the_program_names_exists() -> None:
    sections = {key.partition(".")[0] for key in ENGLISH}
    named = re.compile(rf"say\([^()]*?\"((?:{'|'.join(sections)})\.[a-z_]+)\"|\"(reply\.[a-z_]+)\"")
    folder = Path(bot.__file__).parent
    keys = {
        found.group(1) or found.group(2)
        for path in folder.rglob("*.py")
        for found in named.finditer(path.read_text("utf-8"))
    }
    assert len(keys) > 10
    assert keys <= ENGLISH.keys()
