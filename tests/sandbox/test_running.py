"""What a command meets in a box, and how its end is told."""

import asyncio

import pytest

from sandbox import ExecResult, LimitKind, Limits, Sandbox, SandboxBackend


async def shell(box: Sandbox, script: str, **options: object) -> ExecResult:
    return await box.run(["sh", "-c", script], **options)  # type: ignore[arg-type]


async def test_success_is_told_with_both_streams(box: Sandbox) -> None:
    result = await shell(box, "echo out; echo err >&2")
    assert (result.ok, result.exit_code, result.limit) == (True, 0, None)
    assert (result.stdout.text, result.stderr.text) == ("out\n", "err\n")
    assert 0 < result.usage.wall_seconds < 20


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 3", 3), ("kill -SEGV $$", 139), ("kill -KILL $$", 137), ("no-such-command", 127)],
)
async def test_failure_is_a_result_with_the_code_of_a_shell(box: Sandbox, script: str, code: int) -> None:
    result = await shell(box, script)
    assert (result.exit_code, result.limit, result.ok) == (code, None, False)


async def test_a_program_that_is_not_there_is_a_result(box: Sandbox) -> None:
    assert (await box.run(["issuewright-no-such-program"])).exit_code == 127


async def test_standard_input_arrives_and_ends(box: Sandbox) -> None:
    echoed = (await box.run(["cat"], stdin=b"a\0b")).stdout
    assert echoed.head + echoed.tail == b"a\0b"
    result = await box.run(["wc", "-c"], stdin=b"x" * 300_000)
    assert result.stdout.text.strip() == "300000"


async def test_without_input_a_prompt_does_not_hang(box: Sandbox) -> None:
    result = await box.run(["python3", "-c", "input('name? ')"])
    assert result.exit_code == 1
    assert "EOFError" in result.stderr.text


async def test_input_that_nobody_reads_is_no_error(box: Sandbox) -> None:
    assert (await box.run(["true"], stdin=b"x" * 1_000_000)).ok


async def test_the_host_environment_is_not_inherited(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISSUEWRIGHT_TEST_SECRET", "hunter2")
    everywhere = await shell(box, "cat /proc/*/environ /proc/*/cmdline 2>/dev/null")
    assert "hunter2" not in everywhere.stdout.text
    result = await box.run(["env"], env={"GIVEN": "yes"})
    lines = result.stdout.text.splitlines()
    assert {"GIVEN=yes", "HOME=/tmp", "LANG=C.UTF-8", "CI=1", "PAGER=cat", "GIT_TERMINAL_PROMPT=0"} <= set(
        lines
    )


async def test_a_given_variable_wins_over_the_default(box: Sandbox) -> None:
    assert (await shell(box, "echo $PYTHONHASHSEED", env={"PYTHONHASHSEED": "7"})).stdout.text == "7\n"


async def test_files_stay_between_commands_and_processes_do_not(box: Sandbox) -> None:
    await shell(box, "echo kept > /work/file; sleep 1000 & sleep 1000 >/dev/null 2>&1 &")
    assert (await shell(box, "cat /work/file")).stdout.text == "kept\n"
    left = await box.run(
        ["python3", "-c", "import glob\nfor f in glob.glob('/proc/[0-9]*/cmdline'): print(open(f).read())"]
    )
    assert "sleep\x001000" not in left.stdout.text


async def test_commands_start_in_the_work_folder_or_below(box: Sandbox) -> None:
    await box.put_files({"sub/file": b""})
    assert (await box.run(["pwd"])).stdout.text == "/work\n"
    assert (await box.run(["pwd"], cwd="sub")).stdout.text == "/work/sub\n"


@pytest.mark.parametrize("cwd", ["absent", "../etc", "/etc", "file"])
async def test_a_working_folder_that_is_none_is_refused(box: Sandbox, cwd: str) -> None:
    await box.put_files({"file": b""})
    with pytest.raises(ValueError, match="folder"):
        await box.run(["pwd"], cwd=cwd)


async def test_output_is_passed_on_while_it_comes(box: Sandbox) -> None:
    chunks: list[tuple[str, bytes]] = []
    await shell(box, "echo one; echo two >&2", on_output=lambda name, chunk: chunks.append((name, chunk)))
    assert sorted(chunks) == [("stderr", b"two\n"), ("stdout", b"one\n")]


async def test_boxes_do_not_see_each_other(backend: SandboxBackend) -> None:
    first, second = await asyncio.gather(backend.create(Limits()), backend.create(Limits()))
    try:
        await first.put_files({"secret": b"mine"})
        assert (await shell(second, "ls -A /work")).stdout.text == ""
        assert list((await second.get_files()).files) == []
    finally:
        await asyncio.gather(first.destroy(), second.destroy())


async def test_commands_in_several_boxes_run_at_the_same_time(backend: SandboxBackend) -> None:
    boxes = await asyncio.gather(*(backend.create(Limits(wall_seconds=20)) for _ in range(3)))
    try:
        results = await asyncio.gather(*(shell(box, f"sleep 0.2; echo {i}") for i, box in enumerate(boxes)))
        assert [result.stdout.text for result in results] == ["0\n", "1\n", "2\n"]
    finally:
        await asyncio.gather(*(box.destroy() for box in boxes))


async def test_limits_of_one_command_replace_those_of_the_box(box: Sandbox) -> None:
    result = await box.run(["sleep", "30"], limits=Limits(wall_seconds=0.5))
    assert result.limit is LimitKind.WALL
    assert result.usage.wall_seconds < 10


async def test_a_destroyed_box_can_be_destroyed_again(backend: SandboxBackend) -> None:
    box = await backend.create(Limits())
    await box.run(["sh", "-c", "mkdir -p locked/in; touch locked/in/file; chmod 000 locked/in locked"])
    await box.destroy()
    await box.destroy()
