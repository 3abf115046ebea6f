"""When to ask instead of guessing."""

import re

from pipelines.requirement.types import Requirement

_MIN_WORDS = 8
_MIN_CJK = 12
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


def question_for(requirement: Requirement) -> str | None:
    """A question for the issue's author when no code could be right, else None."""
    if requirement.contradictions:
        listed = "\n".join(f"- {pair}" for pair in requirement.contradictions)
        return f"The examples contradict each other; which ones are right?\n{listed}"
    if _says_what_to_build(requirement):
        return None
    return (
        "The issue does not say what to build. Please add: what the code should be given and what it should "
        "return, with two or three examples such as `name(input) == output`."
    )


def _says_what_to_build(requirement: Requirement) -> bool:
    concrete = requirement.examples or requirement.signatures or requirement.target_paths
    if concrete or requirement.code_blocks:
        return True
    text = f"{requirement.title}\n{requirement.body}"
    return len(re.findall(r"\w+", _CJK.sub(" ", text))) >= _MIN_WORDS or len(_CJK.findall(text)) >= _MIN_CJK
