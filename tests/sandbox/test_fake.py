"""The fakes keep the promises of the boundary."""

import pytest

from sandbox import (
    ExecResult,
    FakeBackend,
    FakeCall,
    LimitKind,
    Limits,
    Output,
    Sandbox,
    SandboxBackend,
    Usage,
)


def test_the_fakes_are_what_the_protocols_ask_for() -> None:
    backend: SandboxBackend = FakeBackend()
    assert backend.name == "fake"


async def test_files_and_calls_are_kept() -> None:
    backend = FakeBackend()
    await backend.check()
    box: Sandbox = await backend.create(Limits(wall_seconds=7))
    await box.put_files({"a/b.py": b"1", "c": b"2"})
    assert (await box.run(["python", "a/b.py"], env={"X": "1"}, cwd="a", stdin=b"in")).ok
    assert dict((await box.get_files(["a/*"])).files) == {"a/b.py": b"1"}
    assert backend.boxes[0].calls == [
        FakeCall(
            argv=("python", "a/b.py"), env={"X": "1"}, cwd="a", stdin=b"in", limits=Limits(wall_seconds=7)
        )
    ]
    await box.destroy()
    assert backend.boxes[0].destroyed


async def test_the_script_answers_and_may_change_files() -> None:
    def script(call: FakeCall, files: dict[str, bytes]) -> ExecResult:
        files["made"] = call.stdin
        return ExecResult(
            exit_code=1, limit=LimitKind.MEMORY, usage=Usage(wall_seconds=2.0), stdout=Output(head=b"out")
        )

    box = await FakeBackend(script).create(Limits())
    chunks: list[tuple[str, bytes]] = []
    result = await box.run(["x"], stdin=b"data", on_output=lambda name, chunk: chunks.append((name, chunk)))
    assert (result.limit, box.files) == (LimitKind.MEMORY, {"made": b"data"})
    assert chunks[0] == ("stdout", b"out")


async def test_bad_paths_are_refused_as_in_a_real_box() -> None:
    box = await FakeBackend().create(Limits())
    with pytest.raises(ValueError, match="work folder"):
        await box.put_files({"good": b"", "../evil": b""})
    assert box.files == {}
