"""One hostile box at a time, on a host that is looked at before and after."""

import platform
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sandbox import Limits, Sandbox, SandboxBackend

from . import host
from .attack import QUICK
from .bait import CANARY_VARIABLE, Bait, planted

_KNOWN_MACHINES = ("x86_64", "aarch64")


@pytest.fixture(scope="module", autouse=True)
def _host_is_left_as_it_was() -> Iterator[None]:
    """Folders, cgroups, mounts, containers, free memory and disk, once for each module of attacks."""
    before = host.inventory()
    yield
    left = host.left_since(before)
    assert not left, "\n".join(left)


@pytest.fixture
def bait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bait]:
    """A planted file, servers and a secret in our environment."""
    if platform.machine() not in _KNOWN_MACHINES:
        pytest.skip(f"the system call numbers of {platform.machine()} are not known to these attacks")
    with planted(tmp_path) as made:
        monkeypatch.setenv(CANARY_VARIABLE, made.secret)
        yield made


@pytest.fixture
def box_limits() -> Limits:
    """The limits that the box is made with; a module or a test may say otherwise."""
    return QUICK


@pytest.fixture
async def hostile_box(backend: SandboxBackend, bait: Bait, box_limits: Limits) -> AsyncIterator[Sandbox]:
    """A box in which, after whatever the test did, the next command works and the host is unchanged."""
    before = host.snapshot()
    box = await backend.create(box_limits, job=bait.token)
    try:
        yield box
        after = await box.run(["sh", "-c", "read line; echo next $line"], stdin=b"command works\n")
        assert (after.stdout.text, after.stderr.text) == ("next command works\n", "")
        assert after.ok
    finally:
        await box.destroy()
        await backend.close()
    assert host.changes_since(before, bait.token) == []
    assert bait.visitors() == []
    assert bait.file.read_text() == bait.secret
    assert sorted(path.name for path in bait.file.parent.iterdir()) == ["planted", "server.sock"]
