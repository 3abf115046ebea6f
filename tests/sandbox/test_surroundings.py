"""What no kernel could start is refused with its reason, and limits mean something."""

import asyncio
import math
from typing import Any

import pytest

from sandbox import Limits, Sandbox
from sandbox.protocol import MIB
from sandbox.surroundings import inodes_for, prlimit_argv, refuse_unrunnable


@pytest.mark.parametrize(
    ("argv", "env", "said"),
    [
        ([], {}, "command is empty"),
        (["a\0b"], {}, "NUL"),
        (["a"], {"X": "b\0"}, "NUL"),
        (["a"], {"": "b"}, "a name is not empty"),
        (["a"], {"X=Y": "b"}, "no '='"),
        (["a" * 200_000], {}, "longer than 131071 bytes"),
        (["a"], {"X": "b" * 200_000}, "pass it in a file"),
        (["a" * 100_000] * 6, {}, "exceed 524288 bytes"),
    ],
)
def test_a_command_that_cannot_be_started_is_refused(argv: list[str], env: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        refuse_unrunnable(argv, env)


def test_an_ordinary_command_is_not_refused() -> None:
    refuse_unrunnable(["python3", "-c", "print('ü')"], {"X": "", "Y": "a=b"})


@pytest.mark.parametrize(
    "facts",
    [
        {"wall_seconds": 0},
        {"wall_seconds": math.inf},
        {"wall_seconds": math.nan},
        {"memory_bytes": -1},
        {"processes": 0},
        {"disk_bytes": 0},
        {"output_bytes": 0},
    ],
)
def test_a_limit_that_limits_nothing_or_everything_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"the limit {next(iter(facts))} is .* positive and finite"):
        Limits(**facts)


def test_a_small_disk_is_not_without_a_limit_for_files() -> None:
    assert inodes_for(1) == 16
    assert inodes_for(512 * MIB) == 131072


def test_the_rlimits_are_on_the_command_line() -> None:
    said = prlimit_argv(Limits(memory_bytes=5, processes=7, disk_bytes=9), extra_processes=1)
    assert said == [
        *("/usr/bin/prlimit", "--as=5", "--nproc=8", "--fsize=9", "--nofile=1024", "--core=0", "--"),
    ]


async def test_much_environment_reaches_the_command(box: Sandbox) -> None:
    env = {f"V{number}": "x" * 90_000 for number in range(3)}
    said = await box.run(["sh", "-c", 'echo "${#V0}${#V1}${#V2}"'], env=env)
    assert said.stdout.text == "900009000090000\n", said.stderr.text


async def test_a_listener_that_raises_ends_the_command_and_is_heard(box: Sandbox) -> None:
    def refuse(_name: str, _chunk: bytes) -> None:
        raise RuntimeError("no more, please")

    with pytest.raises(RuntimeError, match="no more"):
        await box.run(["sh", "-c", "echo hi; exec sleep 100"], on_output=refuse)
    assert (await box.run(["echo", "next"])).stdout.text == "next\n"


async def test_files_can_be_put_and_got_while_a_command_runs(box: Sandbox) -> None:
    running = asyncio.create_task(box.run(["sleep", "0.5"]))
    await asyncio.sleep(0.1)
    await box.put_files({"f": b"x"})
    assert dict((await box.get_files()).files) == {"f": b"x"}
    assert (await running).ok


async def test_a_folder_that_a_command_closed_is_no_place_to_start_in(box: Sandbox) -> None:
    await box.run(["sh", "-c", "mkdir sub; chmod 0 sub"])
    with pytest.raises(ValueError, match="can be entered"):
        await box.run(["true"], cwd="sub")
