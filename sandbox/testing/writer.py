"""Writes the report: blocks of entries, each authenticated together with all that was written before."""

from _blake2 import blake2b
from _json import encode_basestring_ascii, make_encoder
from collections.abc import Callable
from os import O_APPEND, O_CREAT, O_EXCL, O_WRONLY, write
from os import open as open_file
from typing import Any

Entry = list[Any]
Emit = Callable[[Entry, bool], None]

_MESSAGES_IN_FULL = 1024 * 1024
_SHORT = 80


def open_report(path: str, key: bytes) -> Emit:
    """A function that takes an entry, and writes it with those before it when its second argument says so.

    The last value of an entry may be a message; when there are too many long ones, the rest are cut short.
    """
    descriptor = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0o644)
    # The C encoder and hash themselves: Python functions of other modules could be replaced meanwhile.
    encode = make_encoder(None, repr, encode_basestring_ascii, None, ":", ",", False, False, False)
    waiting: list[str] = []  # of text, which the garbage collector does not list and nobody can change
    mac = [b""]
    budget = [_MESSAGES_IN_FULL]

    def emit(entry: Entry, now: bool) -> None:
        if type(entry[-1]) is str and len(entry[-1]) > _SHORT and entry[0] in ("phase", "collected"):
            budget[0] -= len(entry[-1])
            if budget[0] < 0:
                entry[-1] = entry[-1][:_SHORT]
        waiting.append("".join(encode(entry, 0)))
        if now:
            data = f"[{','.join(waiting)}]".encode()
            mac[0] = blake2b(mac[0] + data, key=key, digest_size=16).hexdigest().encode()
            waiting.clear()
            write(descriptor, mac[0] + b" " + data + b"\n")

    return emit
