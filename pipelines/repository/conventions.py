"""What `AGENTS.md` files of the base commit say about code at a path."""

from pathlib import PurePosixPath

from pipelines.repository.snapshot import RepositorySnapshot
from pipelines.requirement.hidden_text import clean

_NAME = "AGENTS.md"
_CHARACTERS = 2_000
_READ = 20_000


def conventions(snapshot: RepositorySnapshot, path: str) -> str:
    """What a reader sees of the root's `AGENTS.md` and of the path's nearest, at most 2,000 characters."""
    folders = [str(folder) for folder in PurePosixPath(path).parents]
    nearest = [name for folder in folders if (name := _within(folder)) in snapshot.files][:1]
    chosen = [name for name in dict.fromkeys((_NAME, *nearest)) if name in snapshot.files]
    texts = [_visible(snapshot, name, _CHARACTERS // len(chosen)) for name in chosen]
    return "\n\n".join(text for text in texts if text)


def _within(folder: str) -> str:
    return _NAME if folder == "." else f"{folder}/{_NAME}"


def _visible(snapshot: RepositorySnapshot, name: str, room: int) -> str:
    """The text that a reader of the rendered file sees, cut after a whole line."""
    text = clean((snapshot.text(name) or "")[:_READ].replace("\r\n", "\n")).text.strip()
    if len(text) <= room:
        return text
    return text[: text.rfind("\n", 0, room + 1)].rstrip() if "\n" in text[:room] else text[:room]
