"""Which files of a repository matter for a question, chosen by names alone."""

import re
from pathlib import PurePosixPath

from pipelines.repository.layout import is_test_file
from pipelines.repository.snapshot import RepositorySnapshot

_TEXT = frozenset([".cfg", ".ini", ".md", ".py", ".pyi", ".rst", ".toml", ".txt", ".yaml", ".yml"])
_DEFINITION = re.compile(r"^(?:async def|def|class) +(\w+)", re.MULTILINE)
_METHOD = re.compile(r"^ +(?:async def|def) +(\w+)", re.MULTILINE)
_MAX_FILE_BYTES = 200_000
_OUTLINE_CHARACTERS = 3_000
_FILES_CHARACTERS = 12_000
_FILE_CHARACTERS = 6_000


def outline(snapshot: RepositorySnapshot) -> str:
    """The text files with the names that they define, one a line, at most 3,000 characters."""
    lines: list[str] = []
    room = _OUTLINE_CHARACTERS
    readable = _readable(snapshot)
    for path, text in readable.items():
        names = ", ".join(_DEFINITION.findall(text)) if path.endswith(".py") else ""
        line = f"{path}: {names}" if names else path
        room -= len(line) + 1
        if room < 0:
            lines.append(f"and {len(readable) - len(lines)} more files")
            break
        lines.append(line)
    return "\n".join(lines)


def relevant_files(snapshot: RepositorySnapshot, question: str) -> dict[str, str]:
    """Files that the question names first, those that define names in it next, else the README.

    At most 12,000 characters of text, at most 6,000 of a file.
    """
    words = frozenset(re.findall(r"\w{3,}", question.casefold()))
    readable = _readable(snapshot)
    scores = {path: _score(path, text, question.casefold(), words) for path, text in readable.items()}
    ranked = sorted((path for path in scores if scores[path] > 0), key=lambda path: (-scores[path], path))
    chosen: dict[str, str] = {}
    room = _FILES_CHARACTERS
    for path in ranked:
        text = _cut(readable[path], min(room, _FILE_CHARACTERS))
        if text:
            chosen[path] = text
            room -= len(text)
    return chosen


def _readable(snapshot: RepositorySnapshot) -> dict[str, str]:
    """Text files by path: code before the rest, and tests last."""
    paths = [path for path in snapshot.files if PurePosixPath(path).suffix in _TEXT and path.isprintable()]
    ordered = sorted(paths, key=lambda path: (is_test_file(path), not path.endswith(".py"), path))
    small = (path for path in ordered if len(snapshot.files[path]) <= _MAX_FILE_BYTES)
    return {path: snapshot.text(path) or "" for path in small}


def _score(path: str, text: str, question: str, words: frozenset[str]) -> float:
    """How much of this file the question names; tests and the README count only a little."""
    name = PurePosixPath(path)
    if path.casefold() in question:
        return 100
    if name.name.casefold() in question:
        return 50
    defined = {found.casefold() for found in (*_DEFINITION.findall(text), *_METHOD.findall(text))}
    named = len(words & (defined | {name.stem.casefold()})) if name.suffix == ".py" else 0
    weight = 0.1 if is_test_file(path) else 1
    return named * weight + (
        0.5 if name.name.casefold().startswith("readme.") and len(name.parts) == 1 else 0
    )


def _cut(text: str, room: int) -> str:
    """Whole lines from the beginning that fit."""
    return text if len(text) <= room else text[: text.rfind("\n", 0, max(room, 0)) + 1]
