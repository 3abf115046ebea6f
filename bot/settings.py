"""All settings in one object, built once: environment over configuration file over defaults."""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from pipelines.budget import Budget
from pipelines.checks.written import WritingParameters
from pipelines.errors import RefusalError
from pipelines.model.endpoint import Endpoint
from pipelines.strategies.direct import DirectParameters
from sandbox import DockerSettings, PoolSettings

_PREFIX = "ISSUEWRIGHT_"


def config_file() -> Path:
    """The configuration file of this user."""
    return platformdirs.user_config_path("issuewright") / "config.toml"


class DockerOptions(BaseModel):
    """How the Docker engine is used, where it is."""

    model_config = ConfigDict(extra="forbid")

    image: str = DockerSettings().image
    """A tag, `name@sha256:…`, or an image id."""
    runtime: str | None = None
    """Another OCI runtime that the engine knows, such as `runsc` (gVisor)."""
    pool_size: int = Field(default=PoolSettings().size, ge=0)
    """Containers kept ready for each image; 0 starts each one when it is needed."""
    pool_idle_seconds: float = Field(default=PoolSettings().idle_seconds, gt=0)

    def choice(self) -> DockerSettings:
        """The same in the sandbox's words."""
        pool = PoolSettings(size=self.pool_size, idle_seconds=self.pool_idle_seconds)
        return DockerSettings(image=self.image, runtime=self.runtime, pool=pool)


class GitHubSettings(BaseModel):
    """How GitHub is reached, and as whom: a GitHub App, or a fine-grained personal token."""

    model_config = ConfigDict(extra="forbid")

    api_url: str = "https://api.github.com"
    """The REST API's root; `https://HOST/api/v3` for GitHub Enterprise Server."""
    ca_bundle: Path | None = None
    """Certificates to trust instead of the system's."""
    git_url: str | None = None
    """Root of the repositories for git; None is the host of `api_url`."""
    app_id: int | None = None
    private_key: SecretStr | None = None
    """The App's private key, PEM; or name its file."""
    private_key_file: Path | None = None
    token: SecretStr | None = None
    webhook_secret: SecretStr | None = None
    trusted_bots: tuple[int, ...] = ()
    """User ids of bots whose events count like a person's; all others are ignored."""
    write_seconds: float = Field(default=1.0, ge=0)
    """Shortest time between two writes of this process, as GitHub asks for."""


class ServiceSettings(BaseModel):
    """The webhook service and its Jobs."""

    model_config = ConfigDict(extra="forbid")

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    public_url: str | None = None
    """Where people reach the service, for links in comments; None leaves links out."""
    database_url: str | None = None
    """`postgresql://…` or `sqlite:///…`; None is a SQLite file below `data_dir`."""
    label: str = "issuewright"
    """Label that sets the bot to work; a repository's own configuration may name another."""
    concurrent_jobs: int = Field(default=1, gt=0)
    """Jobs that one worker does at once."""
    jobs_per_repository: int = Field(default=1, gt=0)
    recoveries: int = Field(default=4, gt=0)
    """How often a Job is gone on with whose worker died; it may be the Job that kills workers."""
    jobs_per_issue_per_day: int = Field(default=10, gt=0)
    tokens_per_day: int = Field(default=5_000_000, gt=0)
    """For each repository; no Job starts beyond it."""
    progress_seconds: float = Field(default=10, gt=0)
    """Shortest time between two edits of a status comment while a Job works."""


class Settings(BaseSettings):
    """Settings of issuewright. Environment names start with ISSUEWRIGHT_, `__` between levels."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_nested_delimiter="__", extra="forbid")

    executor: Endpoint | None = None
    """Server that writes code; None is the embedded model."""
    planner: Endpoint | None = None
    """Server that reads and plans; None is the executor's."""
    offered_models: dict[str, Endpoint] = Field(default_factory=dict)
    """Servers that a repository's configuration may choose by these names, instead of the executor's."""
    gguf: Path | None = None
    """Weights for the embedded model instead of the ones that are fetched."""
    cache_dir: Path | None = None
    """Where fetched weights are kept; None is the user's cache folder."""
    data_dir: Path = Field(default_factory=lambda: platformdirs.user_data_path("issuewright"))
    """Where runs are recorded."""
    sandbox: Literal["auto", "docker", "bubblewrap"] = "auto"
    docker: DockerOptions = DockerOptions()
    install_packages: bool = True
    """Whether the packages that a repository declares are fetched, as wheels, before its code runs."""
    author_name: str = "issuewright"
    author_email: str = "issuewright@localhost"
    seed: int = Field(default=0, ge=0)
    budget: Budget = Budget()
    direct: DirectParameters = DirectParameters()
    tester: WritingParameters = WritingParameters()
    github: GitHubSettings = GitHubSettings()
    service: ServiceSettings = ServiceSettings()

    def models(self) -> dict[str, str]:
        """What answers for each role, without secrets."""
        embedded = f"embedded {self.gguf or ''}".strip()
        executor = f"{self.executor.base_url} {self.executor.model}" if self.executor else embedded
        planner = f"{self.planner.base_url} {self.planner.model}" if self.planner else executor
        return {"executor": executor, "planner": planner}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Command line over environment over configuration file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, config_file())


def load_settings(**overrides: object) -> Settings:
    """The settings, or RefusalError naming each bad key."""
    _refuse_unknown(os.environ)
    try:
        return Settings(**{key: value for key, value in overrides.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors()
        )
        raise RefusalError(
            f"the settings are not valid ({config_file()} and ISSUEWRIGHT_* variables): {faults}"
        ) from error
    except ValueError as error:
        raise RefusalError(f"the configuration file {config_file()} cannot be read: {error}") from error


def _refuse_unknown(names: Iterable[str]) -> None:
    """Raise RefusalError for a variable of ours that sets nothing, which else nobody would notice."""
    known = {f"{_PREFIX}{name.upper()}" for name in Settings.model_fields}
    for name in names:
        first = name.upper().partition("__")[0]
        if first.startswith(_PREFIX) and first not in known:
            near = get_close_matches(first, known, n=1)
            advice = f"; is {near[0]} meant, with `__` before each further level?" if near else ""
            raise RefusalError(f"the variable {name} sets nothing{advice}")
