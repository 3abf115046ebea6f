"""Reasoning text that some models put in front of their answer."""

import re

_CLOSED = re.compile(r"\A\s*<think>.*?</think>[ \t]*\n?", re.DOTALL)
_UNOPENED = re.compile(r"\A(?:(?!<think>).)*?^[ \t]*</think>[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_OPEN = re.compile(r"\A\s*<think>")


def strip_thinking(text: str) -> str:
    """Drop leading `<think>` text; what was never closed is all thinking, so nothing remains of it.

    Chat templates that open the block themselves leave only a `</think>` on a line of its own.
    A tag later in the text belongs to the answer and stays.
    """
    if closed := _CLOSED.match(text):
        return text[closed.end() :]
    if _OPEN.match(text):
        return ""
    if unopened := _UNOPENED.match(text):
        return text[unopened.end() :]
    return text


def drop_open_tag(text: str) -> str:
    """Drop only the leading `<think>` tag, for an answer whose thinking was never closed."""
    return _OPEN.sub("", text)
