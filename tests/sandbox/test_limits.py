"""Every limit ends its command, is named, leaves nothing behind and lets the next command work."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from sandbox import LimitKind, Sandbox, SandboxBackend

from .conftest import LIMITS
from .processes import appeared_within, gone_within

SHORT = replace(LIMITS, wall_seconds=2)


@pytest.fixture
async def box(backend: SandboxBackend) -> AsyncIterator[Sandbox]:
    made = await backend.create(LIMITS)
    try:
        yield made
        after = await made.run(["echo", "next command works"])
        assert (after.ok, after.stdout.text) == (True, "next command works\n")
    finally:
        await made.destroy()


@pytest.fixture
def token() -> str:
    """A number of seconds to sleep that no other process on this machine has on its command line."""
    return f"86{secrets.randbelow(10**9):09d}"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("sleep {token}", id="plain"),
        pytest.param("trap '' TERM INT HUP; sleep {token}; sleep {token}", id="ignores-signals"),
        pytest.param("setsid sleep {token} & sleep {token}", id="own-session"),
        pytest.param(
            "(setsid sh -c 'trap \"\" TERM; sleep {token}' >/dev/null 2>&1 &) ; sleep {token}", id="daemon"
        ),
        pytest.param("while :; do :; done; echo {token}", id="busy"),
    ],
)
async def test_the_wall_limit_ends_everything(box: Sandbox, script: str, token: str) -> None:
    result = await box.run(["sh", "-c", script.format(token=token)], limits=SHORT)
    assert (result.limit, result.exit_code, result.ok) == (LimitKind.WALL, 137, False)
    assert result.usage.wall_seconds < 10
    assert gone_within(token, 2)


async def test_a_daemon_does_not_survive_a_command_that_ends_well(box: Sandbox, token: str) -> None:
    result = await box.run(
        ["sh", "-c", f"setsid sleep {token} >/dev/null 2>&1 </dev/null & sleep 0.2; echo done"]
    )
    assert result.stdout.text == "done\n"
    assert gone_within(token, 2)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import os\nwhile True: os.fork()", id="crashes"),
        pytest.param(
            "import threading as t\nwhile True: t.Thread(target=t.Event().wait, daemon=True).start()",
            id="threads",
        ),
    ],
)
async def test_a_fork_bomb_is_contained_and_named(box: Sandbox, code: str) -> None:
    result = await box.run(["python3", "-c", code])
    assert result.limit is LimitKind.PROCESSES


async def test_a_shell_fork_bomb_is_contained(box: Sandbox, token: str) -> None:
    await box.run(["bash", "-c", f"bomb() {{ bomb | bomb & }}; bomb; sleep 1 # {token}"])
    assert gone_within(token, 3)


async def test_one_memory_hog_is_named(box: Sandbox) -> None:
    result = await box.run(["python3", "-c", "bytearray(2_000_000_000)"])
    assert (result.limit, result.exit_code) == (LimitKind.MEMORY, 1)


async def test_output_flood_is_cut_and_named(box: Sandbox) -> None:
    result = await box.run(["yes"])
    assert result.limit is LimitKind.OUTPUT
    assert result.usage.wall_seconds < 15
    assert len(result.stdout.head) + len(result.stdout.tail) <= LIMITS.output_bytes
    assert result.stdout.dropped_bytes > 0


async def test_flood_of_the_error_stream_is_named_too(box: Sandbox) -> None:
    assert (await box.run(["sh", "-c", "yes >&2"])).limit is LimitKind.OUTPUT


async def test_one_big_file_is_named(box: Sandbox) -> None:
    result = await box.run(["sh", "-c", "head -c 100000000 /dev/zero > big"])
    assert result.limit is LimitKind.DISK


async def test_many_files_are_named(box: Sandbox) -> None:
    code = "for i in range(200):\n with open(f'f{i}', 'wb') as f: f.write(bytes(1_000_000))\n"
    result = await box.run(["python3", "-c", code + "import time; time.sleep(15)"])
    assert result.limit is LimitKind.DISK


async def test_many_empty_files_are_named(box: Sandbox) -> None:
    code = "import time\nfor i in range(20_000): open(f'f{i}', 'w').close()\ntime.sleep(15)"
    assert (await box.run(["python3", "-c", code])).limit is LimitKind.DISK


async def test_cancelling_kills_within_two_seconds(box: Sandbox, token: str) -> None:
    command = asyncio.create_task(
        box.run(["sh", "-c", f"trap '' TERM; setsid sleep {token} & sleep {token}"])
    )
    assert await asyncio.to_thread(appeared_within, f"sleep {token}", 10)
    started = time.monotonic()
    command.cancel()
    with pytest.raises(asyncio.CancelledError):
        await command
    assert gone_within(token, 2 - (time.monotonic() - started))


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.003, 0.006, 0.01, 0.02])
async def test_cancelling_while_the_command_starts_leaves_nothing(
    box: Sandbox, delay: float, token: str
) -> None:
    command = asyncio.create_task(box.run(["sleep", token]))
    await asyncio.sleep(delay)
    command.cancel()
    with pytest.raises(asyncio.CancelledError):
        await command
    assert gone_within(token, 2)
