"""What comes back from a box that set traps for whoever takes it."""

from contextlib import suppress

import pytest

from sandbox import Limits, Sandbox
from sandbox.protocol import MIB

from . import traps_in_files, traps_in_names
from .attack import FINISHED, QUICK, Attack
from .bait import Bait
from .trap import Trap

TRAPS = (*traps_in_names.TRAPS, *traps_in_files.TRAPS)


@pytest.fixture
def box_limits() -> Limits:
    """Room for some large files."""
    return Limits(
        wall_seconds=15, memory_bytes=256 * MIB, processes=32, disk_bytes=96 * MIB, output_bytes=64 * 1024
    )


@pytest.mark.parametrize("trap", [pytest.param(trap, id=trap.name) for trap in TRAPS])
async def test_trap(trap: Trap, hostile_box: Sandbox, bait: Bait) -> None:
    attack = Attack(name=trap.name, program=trap.program, limits=QUICK)
    result = await hostile_box.run(attack.argv(bait.token, bait.visible()))
    assert (result.exit_code, FINISHED in result.stdout.text) == (0, True), result.stderr.text
    collected = await hostile_box.get_files()
    _as_expected(trap, dict(collected.files), set(collected.refused))
    for name, reason in trap.refused.items():
        assert reason in collected.refused.get(name, "came back, or was not named")
    if trap.refused_count is not None:
        assert len(collected.refused) == trap.refused_count, dict(collected.refused)
    assert all(name.isprintable() and name.isascii() for name in collected.refused)
    assert all(bait.secret.encode() not in content for content in collected.files.values())


def _as_expected(trap: Trap, files: dict[str, bytes], refused: set[str]) -> None:
    some = files.keys() & trap.some_of.keys()
    either = files.keys() & trap.either.keys()
    assert sorted(files.keys() - some - either) == sorted(trap.files)
    assert len(some) == trap.some_count
    assert {
        name for name in trap.either if name not in refused and name.split("/")[0] not in refused
    } <= either
    wanted = {**trap.files, **trap.some_of, **trap.either}
    assert [name for name, content in files.items() if wanted[name] != content] == []


async def test_files_can_be_put_where_traps_were(hostile_box: Sandbox) -> None:
    traps = (
        "ln -s /tmp out; ln -s /etc/passwd f; mkfifo pipe; mkdir closed; chmod 0 closed; echo old > g; ln g h"
    )
    assert (await hostile_box.run(["sh", "-c", traps])).ok
    await hostile_box.put_files({"f": b"new", "pipe": b"new", "g": b"new"})
    files = (await hostile_box.get_files(["f", "pipe", "g", "h"])).files
    assert dict(files) == {"f": b"new", "pipe": b"new", "g": b"new", "h": b"old\n"}
    assert (await hostile_box.run(["sh", "-c", "head -c 9 /etc/passwd; ls /tmp"])).stdout.text == "root:x:0:"


async def test_a_closed_folder_is_in_the_way_or_not_but_nothing_breaks(hostile_box: Sandbox) -> None:
    await hostile_box.run(["sh", "-c", "mkdir -p closed readonly; chmod 0 closed; chmod 500 readonly"])
    for path in ("closed/f", "readonly/f"):
        with suppress(ValueError):
            await hostile_box.put_files({path: b"new"})
            assert (await hostile_box.get_files([path])).files == {path: b"new"}


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("ln -s {file} .issuewright/blocked-hosts", id="link"),
        pytest.param("rmdir .issuewright; ln -s {folder} .issuewright", id="folder-link"),
        pytest.param("mkfifo .issuewright/blocked-hosts", id="pipe"),
        pytest.param("mkdir .issuewright/blocked-hosts", id="folder"),
        pytest.param("yes example.com | head -c 6000000 > .issuewright/blocked-hosts", id="huge"),
        pytest.param("printf 'a\\033[2J\\n\\377\\n\\000b:1\\n' > .issuewright/blocked-hosts", id="escapes"),
        pytest.param("rmdir .issuewright; echo x > .issuewright", id="file-for-folder"),
        pytest.param("touch .issuewright/blocked-hosts; chmod 0 .issuewright", id="closed"),
    ],
)
async def test_notes_about_hosts_are_no_way_out(script: str, hostile_box: Sandbox, bait: Bait) -> None:
    (bait.file.parent / "blocked-hosts").write_text(f"{bait.secret}.example.com")
    command = "mkdir .issuewright; " + script.format(file=bait.file, folder=bait.file.parent)
    result = await hostile_box.run(["sh", "-c", command])
    assert result.ok, result.stderr.text
    assert all(host.isprintable() and bait.secret not in host for host in result.blocked_hosts)
    (bait.file.parent / "blocked-hosts").unlink()


async def test_a_link_is_no_folder_for_what_is_put(hostile_box: Sandbox, bait: Bait) -> None:
    folder = bait.file.parent
    await hostile_box.run(
        ["sh", "-c", f"ln -s {folder} out; ln -s /etc etc; ln -s nowhere lost; mkfifo pipe"]
    )
    for path in ("out/planted", "etc/x", "lost/x", "pipe/x"):
        with pytest.raises(ValueError, match="has that name"):
            await hostile_box.put_files({path: b"evil"})
    assert dict((await hostile_box.get_files()).files) == {}


async def test_patterns_lead_nowhere_else(hostile_box: Sandbox, bait: Bait) -> None:
    await hostile_box.run(["sh", "-c", f"ln -s {bait.file.parent} d; ln -s /etc e; ln -s /etc/passwd p"])
    for pattern in (
        "d/*",
        "d/planted",
        "e/passwd",
        "p",
        "../**",
        "/etc/*",
        "../../etc/passwd",
        str(bait.file),
    ):
        assert dict((await hostile_box.get_files([pattern])).files) == {}
