"""Every attack on every backend: contained, named, and nothing else changed."""

import os
from collections import Counter

import pytest

from sandbox import Limits, Sandbox, SandboxBackend

from . import (
    disk,
    hostfiles,
    identity,
    kernel,
    machine,
    memory,
    namespaces,
    network,
    output,
    processes,
    supervisor,
)
from .attack import Attack
from .bait import Bait
from .judge import faults_of

_FAMILIES = (
    *(processes, memory, disk, output),
    *(kernel, machine, namespaces, network),
    *(hostfiles, identity, supervisor),
)
ATTACKS = tuple(attack for family in _FAMILIES for attack in family.ATTACKS)


@pytest.fixture
def box_limits(attack: Attack) -> Limits:
    return attack.limits


@pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.name) for attack in ATTACKS])
async def test_attack(attack: Attack, backend: SandboxBackend, hostile_box: Sandbox, bait: Bait) -> None:
    result = await hostile_box.run(attack.argv(bait.token, bait.visible()))
    faults = faults_of(attack, result) if not _is_beyond(attack, backend) else []
    assert faults == [], f"{result.stdout.text[-3000:]}\n{result.stderr.text[-3000:]}"
    assert bait.secret not in result.stdout.text + result.stderr.text
    assert result.usage.wall_seconds < attack.limits.wall_seconds + 10


def test_there_are_many_attacks_and_each_has_its_own_name() -> None:
    names = Counter(attack.name for attack in ATTACKS)
    assert len(ATTACKS) >= 60
    assert [name for name, count in names.items() if count > 1] == []


def _is_beyond(attack: Attack, backend: SandboxBackend) -> bool:
    """Whether this backend, in the hands of this user, cannot do better than contain the attack."""
    return bool(attack.beyond_ordinary) and backend.name == "bubblewrap" and os.geteuid() != 0
