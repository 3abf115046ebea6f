"""vLLM in an environment of its own: its pins clash with ours, so the two never share one."""

import os
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from typing import NoReturn

import platformdirs
from packaging.requirements import Requirement

from pipelines.errors import InfrastructureError, RefusalError

_EXTRA = "vllm"


def vllm_command(environment: Path, model: str, *, port: int) -> list[str]:
    """The command that serves a model, with prefix caching and without free white space in JSON."""
    return [
        str(environment / "bin" / "vllm"),
        "serve",
        model,
        "--host=127.0.0.1",
        f"--port={port}",
        "--enable-prefix-caching",
        '--structured-outputs-config={"backend":"xgrammar","disable_any_whitespace":true}',
    ]


def serve_vllm(model: str | None, *, port: int, environment: Path | None = None) -> NoReturn:
    """Become the server; the environment is made on first use. Raises RefusalError, InfrastructureError."""
    if model is None:
        raise RefusalError("vLLM needs a model: --model NAME or --model FOLDER")
    place = environment or platformdirs.user_cache_path("issuewright") / "vllm-env"
    ensure_environment(place)
    command = vllm_command(place, model, port=port)
    print(f"export ISSUEWRIGHT_EXECUTOR__BASE_URL=http://127.0.0.1:{port}/v1", flush=True)
    os.execv(command[0], command)  # noqa: S606


def ensure_environment(place: Path) -> None:
    """An environment that holds vLLM. Raises InfrastructureError with the installer's last words."""
    if (place / "bin" / "vllm").is_file():
        return
    print(f"Making an environment for vLLM in {place}; this takes several minutes.", file=sys.stderr)
    for command in (
        [sys.executable, "-m", "venv", str(place)],
        [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *vllm_requirements()],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise InfrastructureError(
                f"the environment for vLLM in {place} could not be made: {done.stderr.strip()[-800:]}"
            )


def vllm_requirements() -> list[str]:
    """What the project's `vllm` extra asks for."""
    declared = [Requirement(text) for text in requires("issuewright") or []]
    wanted = [item for item in declared if item.marker and "extra" in str(item.marker)]
    return [
        f"{item.name}{item.specifier}"
        for item in wanted
        if item.marker and item.marker.evaluate({"extra": _EXTRA})
    ]
