"""Commands that no shell would write: the answer is clear, and the box goes on."""

import re
from collections.abc import Mapping, Sequence

import pytest

from sandbox import LimitKind, Sandbox, SandboxError

from .bait import Bait

_LONGEST_ARGUMENT = 128 * 1024


@pytest.mark.parametrize(
    ("argv", "exit_code"),
    [
        pytest.param(["no-such-program-at-all"], 127, id="not-there"),
        pytest.param(["/work/no-such-program"], 127, id="path-not-there"),
        pytest.param(["/etc/passwd"], 126, id="not-executable"),
        pytest.param(["/work"], 126, id="a-folder"),
        pytest.param(["sh", "-c", "exit 255"], 255, id="last-code"),
        pytest.param(
            ["true", "--", "-rf", "*", "$(id)", "`id`", ";", "new\nline", "\x1b[2J", "ü"], 0, id="odd"
        ),
    ],
)
async def test_an_odd_command_is_a_result(argv: Sequence[str], exit_code: int, hostile_box: Sandbox) -> None:
    result = await hostile_box.run(argv)
    assert (result.exit_code, result.limit) == (exit_code, None), result.stderr.text


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(["echo", "nul\0byte"], id="nul"),
        pytest.param(["\0"], id="only-nul"),
        pytest.param([], id="nothing"),
        pytest.param([""], id="empty-name"),
        pytest.param(["echo", "\udcff\ud800"], id="surrogates"),
    ],
)
async def test_an_impossible_command_is_refused_or_fails(argv: Sequence[str], hostile_box: Sandbox) -> None:
    assert await _refused(hostile_box, argv)


@pytest.mark.parametrize("size", [100_000, 200_000, 3_000_000])
async def test_a_very_long_argument_arrives_whole_or_is_refused(size: int, hostile_box: Sandbox) -> None:
    argv = ["sh", "-c", 'test "${#1}" = "$2"', "sh", "x" * size, str(size)]
    reason = await _refused(hostile_box, argv)
    assert reason == "" if size < _LONGEST_ARGUMENT else re.search("long|large", reason, re.IGNORECASE), (
        reason
    )


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"with space": "1"}, id="space"),
        pytest.param({"1digit": "1"}, id="digit"),
        pytest.param({"dash-ed": "1"}, id="dash"),
        pytest.param({"ünï": "1"}, id="not-ascii"),
        pytest.param({"-rf": "1"}, id="like-an-option"),
        pytest.param({"A": "two\nlines $(id) `id` %s"}, id="odd-value"),
        pytest.param({"BASH_FUNC_id%%": "() { echo HIJACKED; }"}, id="function"),
    ],
)
async def test_an_odd_variable_arrives_as_it_is(env: Mapping[str, str], hostile_box: Sandbox) -> None:
    code = (
        "import os, sys; wanted = eval(sys.argv[1]); print({n: os.environ.get(n) for n in wanted} == wanted)"
    )
    result = await hostile_box.run(["python3", "-c", code, repr(dict(env))], env=env)
    assert result.stdout.text == "True\n", result.stderr.text


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"A=B": "1"}, id="equals-sign"),
        pytest.param({"": "1"}, id="empty"),
        pytest.param({"NUL\0": "1"}, id="nul-in-name"),
        pytest.param({"NUL": "\0"}, id="nul-in-value"),
    ],
)
async def test_an_impossible_variable_is_refused(env: Mapping[str, str], hostile_box: Sandbox) -> None:
    with pytest.raises(ValueError, match=r"variable|environment|null|NUL"):
        await hostile_box.run(["true"], env=env)


_HOLDERS = (
    "sh",
    "setpriv",
    "prlimit",
    "timeout",
    "kill",
    "cat",
    "tar",
    "env",
    "python3",
    "python",
    "bwrap",
    "id",
)


async def test_programs_of_the_box_do_not_stand_in_for_ours(hostile_box: Sandbox) -> None:
    """A path that leads to the work folder must not put its programs before what holds the box."""
    script = b'#!/bin/sh\necho "HIJACKED as $(/usr/bin/id -u) by $0 $(/bin/grep CapEff /proc/self/status)"\n'
    await hostile_box.put_files({f"bin/{name}": script for name in _HOLDERS})
    await hostile_box.run(["/bin/sh", "-c", "chmod 755 bin/*"])
    result = await hostile_box.run(["/bin/echo", "reached"], env={"PATH": "/work/bin:/usr/bin:/bin"})
    assert result.stdout.text == "reached\n", result.stderr.text


async def test_modules_of_the_box_do_not_stand_in_for_ours(hostile_box: Sandbox) -> None:
    evil = b"import os\nos.write(1, b'HIJACKED')\nos.write(2, b'HIJACKED')\n"
    names = ("json", "ctypes", "select", "signal", "resource", "time", "os", "encodings", "typing", "tarfile")
    await hostile_box.put_files({f"{name}.py": evil for name in (*names, "sitecustomize", "usercustomize")})
    result = await hostile_box.run(["/bin/echo", "reached"])
    assert (result.stdout.text, result.stderr.text) == ("reached\n", "")
    assert "json.py" in (await hostile_box.get_files(["*.py"])).files


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"LD_PRELOAD": "/work/evil.so"}, id="preload"),
        pytest.param({"LD_LIBRARY_PATH": "/work", "LD_AUDIT": "/work/evil.so"}, id="library-path"),
        pytest.param({"ENV": "/work/evil.sh", "BASH_ENV": "/work/evil.sh"}, id="shell-start"),
        pytest.param({"PYTHONSTARTUP": "/work/evil.py", "PYTHONPATH": "/work"}, id="python-start"),
        pytest.param({"IFS": "/", "PS4": "$(id)", "SHELLOPTS": "xtrace"}, id="shell-words"),
        pytest.param({"TAR_OPTIONS": "--checkpoint-action=exec=id --checkpoint=1"}, id="tar-options"),
        pytest.param({"GLIBC_TUNABLES": "glibc.malloc.check=3", "MALLOC_TRACE": "/work/t"}, id="tunables"),
    ],
)
async def test_variables_change_the_command_and_nothing_of_ours(
    env: Mapping[str, str], hostile_box: Sandbox
) -> None:
    evil = b"import os; os.write(2, b'HIJACKED as %d' % os.getuid())\n"
    await hostile_box.put_files(
        {"evil.sh": b"echo HIJACKED\n", "evil.py": evil, "sitecustomize.py": evil, "f": b"content"}
    )
    result = await hostile_box.run(["/bin/cat", "f"], env=env)
    assert (result.exit_code, result.stdout.text) == (0, "content")
    assert "HIJACKED" not in result.stderr.text
    assert "f" in (await hostile_box.get_files()).files


@pytest.mark.parametrize("cwd", ["/", "..", "a/../..", "/etc", "nowhere", "f", "link", "\0", "-"])
async def test_a_command_starts_only_in_a_folder_of_the_box(
    cwd: str, hostile_box: Sandbox, bait: Bait
) -> None:
    await hostile_box.run(["sh", "-c", f"echo x > f; ln -s {bait.file.parent} link"])
    with pytest.raises(ValueError, match=r"cwd|folder"):
        await hostile_box.run(["sh", "-c", "pwd -P; ls"], cwd=cwd)


async def _refused(box: Sandbox, argv: Sequence[str]) -> str:
    """Why a command could not be run; empty if it was, and ended well."""
    try:
        result = await box.run(argv)
    except (ValueError, SandboxError) as error:
        return str(error)
    return "" if result.ok else f"exit code {result.exit_code}: {result.stderr.text}"


async def test_input_that_nobody_reads(hostile_box: Sandbox) -> None:
    assert (await hostile_box.run(["true"], stdin=b"x" * 4_000_000)).ok


async def test_input_that_is_closed_early(hostile_box: Sandbox) -> None:
    script = "read first; exec 0<&-; echo $first; sleep 0.3; exit 3"
    result = await hostile_box.run(["sh", "-c", script], stdin=b"hello\n" + b"x" * 4_000_000)
    assert (result.exit_code, result.stdout.text) == (3, "hello\n")


async def test_input_that_is_read_whole_and_ends(hostile_box: Sandbox) -> None:
    sent = bytes(range(256)) * 8000
    result = await hostile_box.run(["sh", "-c", "cksum; cat; echo end"], stdin=sent)
    assert (result.exit_code, result.limit) == (0, None)
    assert result.stdout.text.split()[1:] == [str(len(sent)), "end"]


async def test_nothing_to_read_is_the_end_and_no_terminal(hostile_box: Sandbox) -> None:
    code = "import os, sys; print(repr(sys.stdin.read()), [os.isatty(number) for number in range(3)])"
    assert (await hostile_box.run(["python3", "-c", code])).stdout.text == "'' [False, False, False]\n"


async def test_many_empty_commands_one_after_another(hostile_box: Sandbox) -> None:
    for _ in range(40):
        assert (await hostile_box.run(["true"])).ok


async def test_what_is_streamed_is_capped_like_what_is_kept(hostile_box: Sandbox) -> None:
    sizes: list[int] = []
    result = await hostile_box.run(["yes"], on_output=lambda _, chunk: sizes.append(len(chunk)))
    assert result.limit is LimitKind.OUTPUT
    assert 0 < sum(sizes) <= 2 * 64 * 1024
