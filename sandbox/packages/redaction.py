"""Keeps what opens a package index out of messages."""

import re

_USER_INFO = re.compile(r"(?<=://)[^\s/]*@")


def without_credentials(text: str) -> str:
    """The text with user and password of every URL masked."""
    return _USER_INFO.sub("***@", text)
