"""A folder becomes a link while we read it or write to it: the host's side of the link stays out of it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from sandbox import Sandbox, SandboxBroken
from sandbox.protocol import Collected

from .bait import Bait

_ROUNDS = 25
_FOLDER_AND_LINK = """
import os, sys, time
target, until = sys.argv[1], time.monotonic() + 3
os.makedirs("d"); open("d/planted", "w").write("mine"); os.symlink(target, "l")
print("STARTED", flush=True)
while time.monotonic() < until:
    try:
        os.rename("d", "x"); os.rename("l", "d"); os.rename("d", "l"); os.rename("x", "d")
    except OSError:
        pass
"""
_FILE_AND_LINK = """
import os, sys, time
target, until = sys.argv[1] + "/planted", time.monotonic() + 3
os.makedirs("d"); print("STARTED", flush=True)
while time.monotonic() < until:
    for make in (lambda: open("d/planted", "w").write("mine"), lambda: os.symlink(target, "d/planted"),
                 lambda: os.mkfifo("d/planted"), lambda: os.link("/etc/passwd", "d/planted")):
        try:
            make()
        except OSError:
            pass
        try:
            os.unlink("d/planted")
        except OSError:
            pass
"""
_TREE = """
import os, shutil, sys, time
until = time.monotonic() + 3
print("STARTED", flush=True)
while time.monotonic() < until:
    try:
        os.makedirs("d/e/f/g"); open("d/e/f/g/h", "w").close(); os.rename("d/e/f", "moved")
        shutil.rmtree("d"); shutil.rmtree("moved")
    except OSError:
        pass
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(_FOLDER_AND_LINK, id="folder-and-link"),
        pytest.param(_FILE_AND_LINK, id="file-and-link"),
        pytest.param(_TREE, id="tree-that-moves"),
    ],
)
@pytest.mark.parametrize("action", ["get", "put"])
async def test_race(program: str, action: str, hostile_box: Sandbox, bait: Bait) -> None:
    started = asyncio.Event()
    running = asyncio.create_task(
        hostile_box.run(
            ["python3", "-c", program, str(bait.file.parent), bait.token],
            on_output=lambda _, chunk: started.set() if b"STARTED" in chunk else None,
        )
    )
    await asyncio.wait_for(started.wait(), 15)
    step = _get if action == "get" else _put
    rounds = 0
    while rounds < _ROUNDS and not running.done():
        rounds += 1
        await _tolerating_the_race(step, hostile_box, bait)
    result = await running
    assert (result.exit_code, result.limit) == (0, None), result.stderr.text
    assert rounds > 0
    assert bait.file.read_text() == bait.secret


async def _get(box: Sandbox, bait: Bait) -> None:
    collected: Collected = await box.get_files()
    assert all(bait.secret.encode() not in content for content in collected.files.values())
    assert all(b"root:" not in content for content in collected.files.values())


async def _put(box: Sandbox, bait: Bait) -> None:
    await box.put_files({"d/planted": b"ours", "d/new": b"ours"})
    assert not (bait.file.parent / "new").exists()


async def _tolerating_the_race(
    step: Callable[[Sandbox, Bait], Awaitable[None]], box: Sandbox, bait: Bait
) -> None:
    """A race may make a call fail, with its own two exceptions and no other."""
    with suppress(ValueError, SandboxBroken):
        await step(box, bait)
