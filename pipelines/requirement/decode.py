"""From the bytes of an issue file to text."""

import codecs
from typing import NamedTuple

from pipelines.errors import RefusalError

MAX_BYTES = 1024 * 1024
_MAX_CONTROL_SHARE = 0.02
_TEXT_CONTROLS = "\t\n\r\f\v\x1b"


class Decoded(NamedTuple):
    """Text with `\\n` line ends, and what had to be assumed to get it."""

    text: str
    notes: tuple[str, ...] = ()


def decode(raw: bytes, *, path: str) -> Decoded:
    """Decode UTF-8, or UTF-16 with a BOM, or else Latin-1 with a note; RefusalError when it is not text."""
    if len(raw) > MAX_BYTES:
        raise RefusalError(
            f"{path}: the issue is {len(raw)} bytes long and the limit is {MAX_BYTES} (1 MiB). "
            "Shorten it, and attach long logs or data as files."
        )
    text, notes = _to_text(raw, path=path)
    if _is_binary(text):
        raise RefusalError(
            f"{path}: this is a binary file, not text. Give the issue as Markdown text in UTF-8."
        )
    if not text.strip():
        raise RefusalError(f"{path}: the issue is empty. Write at least a title and what is wanted.")
    return Decoded(text.replace("\r\n", "\n").replace("\r", "\n"), notes)


def _to_text(raw: bytes, *, path: str) -> Decoded:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return Decoded(raw.decode("utf-16"))
        except UnicodeDecodeError as error:
            raise RefusalError(
                f"{path}: it starts as UTF-16 but byte {error.start} does not fit. Save it as UTF-8."
            ) from error
    try:
        return Decoded(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        note = f"byte {error.start} is not UTF-8; the whole file was read as Latin-1, so check its accents"
        return Decoded(raw.decode("latin-1"), (note,))


def _is_binary(text: str) -> bool:
    if "\0" in text:
        return True
    controls = sum(1 for char in text if _is_control(char))
    return controls > _MAX_CONTROL_SHARE * len(text) + 1


def _is_control(char: str) -> bool:
    return (char < " " and char not in _TEXT_CONTROLS) or "\x7f" <= char <= "\x9f"
