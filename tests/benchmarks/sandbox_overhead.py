"""What each way of running a program costs over the bare host, all in one run.

    python -m tests.benchmarks.sandbox_overhead [pyperf options, such as --fast or -o FILE]

The program is `/bin/true`. Needs bubblewrap and a Docker engine with the image.
"""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pyperf
from rich.console import Console
from rich.table import Table

from sandbox import BubblewrapBackend, DockerBackend, Limits, PoolSettings, Sandbox, SandboxBackend
from sandbox.docker.backend import DEFAULT_IMAGE

_PROGRAM = ["/bin/true"]
_LIMITS = Limits()
_HOST = "host: subprocess"
Timed = Callable[[int], Awaitable[float]]


def on_host() -> None:
    """The program itself."""
    subprocess.run(_PROGRAM, check=True)


def docker_run() -> None:
    """What a person would type."""
    subprocess.run(["docker", "run", "--rm", DEFAULT_IMAGE, *_PROGRAM], check=True)


def whole_box(backend: Callable[[], SandboxBackend]) -> Timed:
    """Create, run and destroy, with nothing kept ready."""

    async def timed(loops: int) -> float:
        made = backend()
        await made.check()
        started = pyperf.perf_counter()
        for _ in range(loops):
            box = await made.create(_LIMITS)
            await _run(box)
            await box.destroy()
        seconds = pyperf.perf_counter() - started
        await made.close()
        return float(seconds)

    return timed


async def warm_box(loops: int) -> float:
    """Take a ready container and run; removal goes on beside the next one's work and is not timed."""
    backend = DockerBackend(pool=PoolSettings(size=1))
    seconds = 0.0
    for _ in range(loops):
        await backend.prepare(_LIMITS)
        started = pyperf.perf_counter()
        box = await backend.create(_LIMITS)
        await _run(box)
        seconds += pyperf.perf_counter() - started
        await box.destroy()
    await backend.close()
    return seconds


def next_command(backend: Callable[[], SandboxBackend]) -> Timed:
    """One more command in a box that is there."""

    async def timed(loops: int) -> float:
        made = backend()
        box = await made.create(_LIMITS)
        await _run(box)
        started = pyperf.perf_counter()
        for _ in range(loops):
            await _run(box)
        seconds = pyperf.perf_counter() - started
        await box.destroy()
        await made.close()
        return float(seconds)

    return timed


async def _run(box: Sandbox) -> None:
    result = await box.run(_PROGRAM)
    if not result.ok:
        raise RuntimeError(f"the program failed: {result}")


def _cold_docker() -> SandboxBackend:
    return DockerBackend(pool=PoolSettings(size=0))


def main() -> None:
    """Measure and print a table; in pyperf's worker processes only measure."""
    runner = pyperf.Runner(processes=3, values=10, warmups=1, loops=1)
    found = {
        _HOST: runner.bench_func(_HOST, on_host),
        "docker run --rm": runner.bench_func("docker run --rm", docker_run),
    }
    boxes: dict[str, Timed] = {
        "docker: create, run, destroy": whole_box(_cold_docker),
        "docker: create from pool, run": warm_box,
        "docker: next command": next_command(_cold_docker),
        "bubblewrap: create, run, destroy": whole_box(BubblewrapBackend),
        "bubblewrap: next command": next_command(BubblewrapBackend),
    }
    for name, timed in boxes.items():
        found[name] = runner.bench_time_func(name, lambda loops, timed=timed: asyncio.run(timed(loops)))
    done = {name: bench for name, bench in found.items() if bench is not None}
    if not runner.args.worker and len(done) == len(found):
        _show(done)


def _show(done: dict[str, pyperf.Benchmark]) -> None:
    host = done[_HOST].median()
    table = Table("way", "median ms", "over the host, ms", "95th percentile, ms", title="running /bin/true")
    for name, bench in done.items():
        median, late = bench.median(), bench.percentile(95)
        table.add_row(name, *(f"{value * 1000:.0f}" for value in (median, median - host, late - host)))
    Console(file=sys.stderr).print(table)


if __name__ == "__main__":
    main()
