import io
from pathlib import Path

import pytest
from rich.console import Console

from bot.cli import endpoint_options, with_options
from bot.progress import open_display
from bot.settings import config_file, load_settings
from pipelines.budget import Spent
from pipelines.errors import RefusalError
from pipelines.run import Progress


def write_config(text: str) -> None:
    config_file().parent.mkdir(parents=True)
    config_file().write_text(text)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ISSUEWRIGHT_SERVCE__LABEL", "ISSUEWRIGHT_SERVICE"),
        ("ISSUEWRIGHT_GITHUB_APP_ID", "ISSUEWRIGHT_GITHUB"),
        ("ISSUEWRIGHT_SEDE", "ISSUEWRIGHT_SEED"),
    ],
)
def test_a_variable_that_sets_nothing_is_refused_with_what_may_be_meant(
    monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(RefusalError, match=f"{name} sets nothing; is {meant} meant"):
        load_settings()


def test_defaults_need_no_file_and_no_environment() -> None:
    settings = load_settings()
    assert settings.executor is None
    assert settings.sandbox == "auto"
    assert settings.direct.samples == 8


def test_the_environment_beats_the_file_and_the_command_line_beats_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_config('author_name = "file"\nauthor_email = "file@example.org"\nseed = 1\n')
    monkeypatch.setenv("ISSUEWRIGHT_AUTHOR_NAME", "environment")
    monkeypatch.setenv("ISSUEWRIGHT_SEED", "2")
    settings = load_settings(seed=3)
    assert (settings.author_name, settings.author_email, settings.seed) == (
        "environment",
        "file@example.org",
        3,
    )


def test_planner_and_executor_are_two_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISSUEWRIGHT_PLANNER__BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("ISSUEWRIGHT_EXECUTOR__BASE_URL", "http://127.0.0.1:2/v1")
    monkeypatch.setenv("ISSUEWRIGHT_EXECUTOR__API_KEY", "sk-secret")
    settings = load_settings()
    assert settings.planner
    assert settings.executor
    assert settings.planner.base_url != settings.executor.base_url
    assert "sk-secret" not in repr(settings)
    assert settings.models() == {
        "executor": "http://127.0.0.1:2/v1 auto",
        "planner": "http://127.0.0.1:1/v1 auto",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour = 1\n", "colour"),
        ("[budget]\ntokens = 0\n", "budget.tokens"),
        ("[direct]\nsamples = -1\n", "direct.samples"),
        ("not toml at all", "config.toml"),
    ],
)
def test_a_bad_file_is_refused_with_the_key(text: str, words: str) -> None:
    write_config(text)
    with pytest.raises(RefusalError, match=words) as raised:
        load_settings()
    assert "config.toml" in str(raised.value)


def test_a_server_on_the_command_line_keeps_its_configured_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISSUEWRIGHT_EXECUTOR__BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("ISSUEWRIGHT_EXECUTOR__API_KEY", "sk-secret")
    monkeypatch.setenv("ISSUEWRIGHT_EXECUTOR__MODEL", "configured")
    executor = load_settings(executor=endpoint_options("http://127.0.0.1:2/v1", None)).executor
    assert executor
    assert executor.api_key
    assert (executor.base_url, executor.model) == ("http://127.0.0.1:2/v1", "configured")
    assert executor.api_key.get_secret_value() == "sk-secret"
    assert endpoint_options(None, None) is None


def test_options_change_only_what_they_say() -> None:
    settings = load_settings()
    changed = with_options(settings, caps={"tokens": 5, "model_calls": None}, samples=0, repairs=None)
    assert changed.budget.tokens == 5
    assert changed.budget.model_calls == settings.budget.model_calls
    assert (changed.direct.samples, changed.direct.repairs) == (0, settings.direct.repairs)


def test_plain_lines_without_a_terminal() -> None:
    out = io.StringIO()
    with open_display(Console(file=out, width=40)) as display:
        display.show(Progress(stage="writing", detail="src/[x].py " + "long " * 20))
        display.show(Progress(stage="testing", detail="greedy"))
        for done in range(0, 101, 3):
            display.downloaded(done * 10_000_000, 1_000_000_000)
    lines = out.getvalue().splitlines()
    assert "writing: src/[x].py long" in lines[0]
    assert "testing: greedy" in lines[1]
    assert len([line for line in lines if "fetching" in line]) == 10


def test_a_terminal_keeps_finished_steps_and_shows_tokens() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    with open_display(console) as display:
        display.downloaded(1, 2)
        display.show(Progress(stage="writing", detail="a.py"))
        display.show(Progress(stage="testing", detail="greedy", spent=Spent(completion_tokens=321)))
    assert "writing: a.py" in out.getvalue()
    assert "321 tokens" in out.getvalue()


def test_the_home_of_tests_is_not_the_users() -> None:
    assert Path.home() not in config_file().parents
