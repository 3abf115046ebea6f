"""Publishes in processes that die at a chosen git command; a program of its own, so that it can fork.

Its arguments are a folder, the remote's URL and the base. For N = 0, 1, ... it kills a first try before the
N-th git command that changes something and lets a second one finish, each N with a branch of its own, until
a first try survives. Prints one line for each: the first try's end, and the second's commit.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import cast

from bot.git.publish import Publication, publish
from tests.bot.git.remote_scratch import access_to, details

_CHANGING = frozenset(
    ("init", "fetch", "read-tree", "hash-object", "update-index", "write-tree", "commit-tree", "push")
)
"""Before any other command, what lies there is what the one before has left."""


def main(folder: Path, url: str, base: str) -> None:
    for number in range(200):
        branch = f"crash/{number}"
        clones = folder / str(number)
        first = _in_a_fork(clones, url, base, branch, kill_at=number)
        second = _in_a_fork(clones, url, base, branch, kill_at=-1)
        print(first or "killed", second, flush=True)
        if first:
            return


def _in_a_fork(clones: Path, url: str, base: str, branch: str, *, kill_at: int) -> str:
    """The published commit; empty for a process that was killed."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        _kill_before_command(kill_at)
        files = {"src/tool.py": b"VALUE = 1\n"}
        publication = Publication(base=base, branch=branch, files=files, details=details())
        published = asyncio.run(publish(clones, access_to(url), publication))
        os.write(writer, published.commit.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        return answer.read().decode()


def _kill_before_command(wanted: int) -> None:
    seen = 0

    def audit(event: str, args: tuple[object, ...]) -> None:
        nonlocal seen
        if event == "subprocess.Popen" and _CHANGING.intersection(cast(list[str], args[1])):
            if seen == wanted:
                os.kill(os.getpid(), 9)
            seen += 1

    sys.addaudithook(audit)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
