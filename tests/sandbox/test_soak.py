"""Many jobs, some of them hostile, four at a time; afterwards the host is as it was.

SOAK_JOBS says how many for each backend, and SOAK_SEED which.
"""

import asyncio
import os
import random
import secrets
from collections import Counter
from dataclasses import dataclass

import pytest

from sandbox import LimitKind, Limits, Sandbox, SandboxBackend
from sandbox.protocol import MIB

from .attacks import host
from .processes import alive_with

_JOBS = int(os.environ.get("SOAK_JOBS", "40"))
_SEED = int(os.environ.get("SOAK_SEED", "20260101"))
_AT_ONCE = 4
_HOSTILE_SHARE = 0.1
_WARM_UP = 6
_LIMITS = Limits(
    wall_seconds=20, memory_bytes=128 * MIB, processes=24, disk_bytes=8 * MIB, output_bytes=32 * 1024
)
_ENDLESS = Limits(
    wall_seconds=3, memory_bytes=128 * MIB, processes=24, disk_bytes=8 * MIB, output_bytes=32 * 1024
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hostile:
    script: str
    named: frozenset[LimitKind | None]


_HOSTILE = (
    _Hostile(script="bomb() { bomb | bomb & }; bomb; sleep 60", named=frozenset({LimitKind.PROCESSES})),
    _Hostile(script="exec python3 -c 'bytearray(b\"x\") * (8 << 30)'", named=frozenset({LimitKind.MEMORY})),
    _Hostile(script="head -c 50000000 /dev/zero > big", named=frozenset({LimitKind.DISK})),
    _Hostile(script="yes", named=frozenset({LimitKind.OUTPUT})),
    _Hostile(script="trap '' TERM; sleep 600", named=frozenset({LimitKind.WALL})),
    _Hostile(script="setsid sleep 600 >/dev/null 2>&1 & exit 0", named=frozenset({None})),
    _Hostile(script="kill -9 -1; sleep 60", named=frozenset({None})),
    _Hostile(script="mkfifo p; ln -s / l; mkdir -p $(seq -s/ 60); exit 0", named=frozenset({None})),
)


@pytest.mark.soak
@pytest.mark.timeout(60 + 10 * _JOBS)
async def test_nothing_is_left_of_many_jobs(backend: SandboxBackend) -> None:
    token = f"soak-{secrets.token_hex(8)}"
    await _serve(backend, token, jobs=_WARM_UP, seed=0)  # what is kept on purpose exists after this
    descriptors, stock = host.snapshot().descriptors, host.inventory()
    endings = await _serve(backend, token, jobs=_JOBS, seed=_SEED)
    print(f"{backend.name}: {_JOBS} jobs, {dict(endings)}")
    assert endings.total() == _JOBS
    await backend.close()
    assert host.settled(lambda: not alive_with(token)), alive_with(token)
    assert host.settled(lambda: host.snapshot().descriptors <= descriptors)
    assert host.left_since(stock) == []


async def _serve(backend: SandboxBackend, token: str, *, jobs: int, seed: int) -> Counter[str]:
    """Run jobs, some at once; returns how often each end was seen."""
    chance, turns = random.Random(seed), asyncio.Semaphore(_AT_ONCE)
    orders = [chance.choice(_HOSTILE) if chance.random() < _HOSTILE_SHARE else None for _ in range(jobs)]

    async def in_turn(number: int, order: _Hostile | None) -> str:
        async with turns:
            return await _job(backend, f"{token}-{number}", order)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(in_turn(number, order)) for number, order in enumerate(orders)]
    return Counter(task.result() for task in tasks)


async def _job(backend: SandboxBackend, token: str, hostile: _Hostile | None) -> str:
    box = await backend.create(_ENDLESS if hostile else _LIMITS, job=token)
    try:
        if hostile is not None:
            return await _attack(box, token, hostile)
        await box.put_files({"in/a.txt": token.encode(), "b.py": b"print(open('in/a.txt').read())"})
        result = await box.run(["sh", "-c", "python3 b.py | tee out; sleep 0 # $1", "job", token])
        assert (result.exit_code, result.stdout.text.strip()) == (0, token), result
        collected = await box.get_files(["**"])
        assert collected.files["out"] == token.encode() + b"\n"
        return "done"
    finally:
        await box.destroy()


async def _attack(box: Sandbox, token: str, hostile: _Hostile) -> str:
    result = await box.run(["bash", "-c", hostile.script, "attack", token])
    # On a busy machine the clock may be faster than the attack; what is named when is tested elsewhere.
    assert result.limit in hostile.named | {LimitKind.WALL}, (hostile.script, result)
    await box.get_files()
    after = await box.run(["echo", token], limits=_LIMITS)
    assert after.stdout.text.strip() == token
    return f"stopped: {result.limit.value}" if result.limit else "ended by itself"
