"""An attack whose caller loses patience: nothing of it is left, and the box still serves."""

import asyncio
import secrets

import pytest

from sandbox import Limits, Sandbox, SandboxBackend
from tests.sandbox.processes import alive_with, appeared_within

from . import host
from .bait import Bait
from .test_attacks import ATTACKS

_NAMES = (
    *("fork-bomb-that-hides-its-errors", "shell-fork-bomb-in-silence"),
    *("ignores-every-signal", "busy-loop", "stops-everyone", "stops-itself", "output-closed-then-asleep"),
)
_PATIENCE_SECONDS = 5
_PROMISED = 2.0


@pytest.mark.parametrize("name", _NAMES)
async def test_a_cancelled_attack_is_over(name: str, hostile_box: Sandbox, bait: Bait) -> None:
    attack = next(attack for attack in ATTACKS if attack.name == name)
    running = asyncio.create_task(hostile_box.run(attack.argv(bait.token, bait.visible())))
    assert await asyncio.to_thread(appeared_within, bait.token, _PATIENCE_SECONDS)
    await asyncio.sleep(0.3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, _PROMISED + _PATIENCE_SECONDS)
    assert await asyncio.to_thread(host.settled, lambda: not alive_with(bait.token))


async def test_a_box_that_is_destroyed_takes_a_running_attack_along(backend: SandboxBackend) -> None:
    token = f"attack-{secrets.token_hex(8)}"
    box = await backend.create(Limits(wall_seconds=60), job=token)
    script = "trap '' TERM; setsid sleep 600 & while :; do :; done"
    running = asyncio.create_task(box.run(["bash", "-c", script, "attack", token]))
    assert await asyncio.to_thread(appeared_within, token, _PATIENCE_SECONDS)
    try:
        await box.destroy()
        ended, _ = await asyncio.wait({running}, timeout=_PATIENCE_SECONDS + _PROMISED)
        assert ended == {running}
        assert await asyncio.to_thread(host.settled, lambda: not alive_with(token))
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)  # a box that is gone may say so
