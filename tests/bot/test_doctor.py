import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from bot.doctor import Finding, check_git, examine, probe_model, verdict
from bot.settings import Settings
from bot.vllm_server import serve_vllm, vllm_command, vllm_requirements
from pipelines.errors import InfrastructureError, RefusalError
from pipelines.model.protocol import Completion, ModelRequest
from pipelines.model.scripted import ScriptedModel
from sandbox import SandboxBackend
from tests.bot.model_server import model_server


def healthy(request: ModelRequest) -> str:
    text = request.messages[-1].content
    if "add(a, b)" in text:
        return "def add(a, b):\n    return a + b\n"
    if "password" in text:
        return "pelican"
    return '{"colour": "green", "number": 7}'


async def states(script: object) -> dict[str, str]:
    return {finding.name: finding.state for finding in await probe_model(ScriptedModel(script))}  # type: ignore[arg-type]


async def test_a_model_that_does_everything_is_ok() -> None:
    assert set((await states(healthy)).values()) == {"ok"}


async def test_a_model_that_never_stops_is_a_fault() -> None:
    def endless(request: ModelRequest) -> str | Completion:
        if "add(a, b)" not in request.messages[-1].content:
            return healthy(request)
        return Completion(
            text="x = 1\n" * 50,
            finish_reason="length",
            prompt_tokens=1,
            completion_tokens=200,
            seconds=1,
            model="m",
        )

    assert (await states(endless))["model: code"] == "fault"


@pytest.mark.parametrize(
    ("code", "state"), [("I cannot do that.", "fault"), ("def plus(a, b):\n    return a + b\n", "warning")]
)
async def test_code_that_is_none_or_something_else(code: str, state: str) -> None:
    def script(request: ModelRequest) -> str:
        return code if "add(a, b)" in request.messages[-1].content else healthy(request)

    assert (await states(script))["model: code"] == state


async def test_no_json_is_a_fault_and_the_other_probes_still_run() -> None:
    def script(request: ModelRequest) -> str:
        return healthy(request) if request.response_schema is None else "no"

    found = await states(script)
    assert found["model: JSON"] == "fault"
    assert found["model: context"] == "ok"


async def test_a_beginning_that_is_cut_off_is_a_warning() -> None:
    def script(request: ModelRequest) -> str:
        return "fox" if "password" in request.messages[-1].content else healthy(request)

    assert (await states(script))["model: context"] == "warning"


async def test_a_server_that_is_down_is_a_fault_in_each_probe() -> None:
    down = InfrastructureError("no server at http://127.0.0.1:1")
    assert set((await states(lambda _: down)).values()) == {"fault"}


def test_the_verdict_says_what_to_mend() -> None:
    good, poor, bad = (
        Finding("git", "ok", ""),
        Finding("model", "warning", ""),
        Finding("sandbox", "fault", ""),
    )
    assert verdict([good]).startswith("Ready:")
    assert "look at model" in verdict([good, poor])
    assert verdict([good, poor, bad]) == "Not ready: mend sandbox first."


def test_git_is_found_here() -> None:
    assert check_git().state == "ok"


@pytest.mark.sandbox
async def test_the_whole_examination_with_a_server(backend: SandboxBackend, data_dir: Path) -> None:
    def script(request: dict[str, object]) -> str:
        asked = ModelRequest.model_validate(
            {"role": "executor", "max_tokens": 1, "messages": request["messages"][:1]}  # type: ignore[index]
        )
        return healthy(asked)

    out = io.StringIO()
    with model_server(script) as server:
        chosen = Settings.model_validate(
            {"data_dir": data_dir, "sandbox": "bubblewrap", "executor": {"base_url": server.url}}
        )
        assert await examine(chosen, Console(file=out, width=200))
    assert "Ready" in out.getvalue()
    assert "bubblewrap" in out.getvalue()


@pytest.mark.sandbox
async def test_without_weights_it_says_how_to_get_them(backend: SandboxBackend, tmp_path: Path) -> None:
    out = io.StringIO()
    chosen = Settings(data_dir=tmp_path, cache_dir=tmp_path / "cache", sandbox="bubblewrap")
    assert await examine(chosen, Console(file=out, width=200))
    assert "--fetch" in out.getvalue()


def test_vllm_is_asked_for_by_the_projects_own_extra() -> None:
    assert any(item.startswith("vllm>=") for item in vllm_requirements())
    assert not any(item.startswith("xllamacpp") for item in vllm_requirements())


def test_vllm_caches_prefixes_and_writes_no_free_white_space(tmp_path: Path) -> None:
    command = vllm_command(tmp_path, "model", port=8001)
    assert "--enable-prefix-caching" in command
    assert any("disable_any_whitespace" in part for part in command)
    assert "--host=127.0.0.1" in command


def test_vllm_without_a_model_is_refused() -> None:
    with pytest.raises(RefusalError, match="--model"):
        serve_vllm(None, port=8000)


def test_the_environment_that_is_there_is_used(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "served $*"\n')
    program.chmod(0o755)
    code = (
        "from pathlib import Path; from bot.vllm_server import serve_vllm;"
        f"serve_vllm('m', port=9, environment=Path({str(tmp_path)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "served serve m --host=127.0.0.1 --port=9" in done.stdout
    assert "export ISSUEWRIGHT_EXECUTOR__BASE_URL=http://127.0.0.1:9/v1" in done.stdout
