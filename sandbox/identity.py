"""Which user id the commands of a box run as."""

import os
import secrets
from pathlib import Path

ORDINARY_ID = 1000
"""Shown inside boxes that an ordinary user makes; outside it is that user."""
_HIGH_FIRST = 0x6000_0000
_HIGH_COUNT = 0x0100_0000
_LOW_FIRST = 60_001
_LOW_COUNT = 5_000


def is_root() -> bool:
    """Whether this process may change to any other user."""
    return os.geteuid() == 0


def box_id(uid_map: str | None = None) -> int:
    """A user id for one box that no other box or person has, within what this user namespace maps."""
    text = Path("/proc/self/uid_map").read_text() if uid_map is None else uid_map
    highest = max(int(start) + int(count) for start, _, count in map(str.split, text.splitlines()))
    if highest >= _HIGH_FIRST + _HIGH_COUNT:
        return _HIGH_FIRST + secrets.randbelow(_HIGH_COUNT)
    return _LOW_FIRST + secrets.randbelow(_LOW_COUNT)
