"""What a repository sets for itself in `.github/issuewright.yml`, read from its base branch only."""

import re
import shlex
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import ErrorDetails

from bot.github.protocol import GitHub
from bot.github.types import RepoRef
from bot.repository_config_yaml import read_yaml
from pipelines.budget import Budget
from pipelines.errors import RefusalError
from pipelines.repository.paths import unwritable_reason
from pipelines.repository.rules import EVERYTHING, RepositoryRules, pattern_fault
from pipelines.strategies.direct import DirectParameters

CONFIG_PATHS = (".github/issuewright.yml", ".github/issuewright.yaml")

_NOT_IN_REFS = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/.]|/\.|[/.]$|\.lock(/|$)")
_MAX_FAULTS = 8
_PLACEHOLDER = re.compile(r"\{(number|slug)\}")


def _target(path: str) -> str:
    reason = unwritable_reason(path.removesuffix("/"))
    if reason:
        raise ValueError(f"{_shown(path)} cannot be used: {reason}")
    return path


def _pattern(pattern: str) -> str:
    fault = pattern_fault(pattern)
    if fault:
        raise ValueError(f"{_shown(pattern)} can match nothing: {fault}")
    return pattern


class RepositoryLimits(BaseModel):
    """Caps of this repository; they lower the server's own and never raise them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    tokens: int | None = Field(default=None, gt=0, strict=True)
    model_calls: int | None = Field(default=None, gt=0, strict=True)
    sandbox_seconds: float | None = Field(default=None, gt=0, strict=True)
    wall_seconds: float | None = Field(default=None, gt=0, strict=True)
    samples: int | None = Field(default=None, ge=0, strict=True)
    repairs: int | None = Field(default=None, ge=0, strict=True)

    def budget(self, own: Budget) -> Budget:
        """The lower of both for each cap."""
        return own.model_copy(update=self._lower(own))

    def direct(self, own: DirectParameters) -> DirectParameters:
        """The lower of both for samples and repairs."""
        return own.model_copy(update=self._lower(own))

    def _lower(self, own: BaseModel) -> dict[str, object]:
        mine = {name: value for name, value in vars(self).items() if value is not None}
        return {name: min(value, mine[name]) for name, value in vars(own).items() if name in mine}


class RepositoryConfig(BaseModel):
    """The configuration of one repository; every key may be left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str | None = Field(default=None, min_length=1, max_length=50)
    """Label that sets the bot to work here; None is the server's."""
    strategy: Literal["direct"] | None = None
    """None is the server's."""
    target_paths: tuple[Annotated[str, AfterValidator(_target)], ...] = ()
    """Folders or Python files for new code where the issue names none; the first that exists is taken."""
    test_command: tuple[str, ...] = ()
    """How the repository's own tests run in the sandbox; empty lets pytest find them."""
    limits: RepositoryLimits = RepositoryLimits()
    allowed_paths: tuple[Annotated[str, AfterValidator(_pattern)], ...] = Field(
        default=EVERYTHING, min_length=1
    )
    """Patterns of which every generated file must match one; `.github/workflows` is never written."""
    base: str | None = None
    """Branch that pull requests start from and go to; None is the default branch."""
    branch: str = "issuewright/{number}-{slug}"
    """Name of the bot's branch."""
    model: str | None = None
    """One of the models that the server's owner offers; None is the server's own choice."""

    @property
    def rules(self) -> RepositoryRules:
        """What a Run must know of it."""
        return RepositoryRules(
            target_paths=self.target_paths, allowed_paths=self.allowed_paths, test_command=self.test_command
        )

    @field_validator("test_command", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return shlex.split(value) if isinstance(value, str) else value

    @field_validator("test_command")
    @classmethod
    def _check_command(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not value[0] or any("\0" in word for word in value):
            raise ValueError("name a program and its arguments, such as `python -m pytest -q`")
        return value

    @field_validator("label")
    @classmethod
    def _check_label(cls, value: str) -> str:
        if value != value.strip() or not value.isprintable():
            raise ValueError("write the label as GitHub shows it, without spaces around it")
        return value

    @field_validator("base")
    @classmethod
    def _check_base(cls, value: str) -> str:
        if not value or _NOT_IN_REFS.search(value):
            raise ValueError(f"{_shown(value)} is not a branch name that git accepts")
        return value

    @field_validator("branch")
    @classmethod
    def _check_branch(cls, value: str) -> str:
        example = _PLACEHOLDER.sub("1", value)
        if example == value:
            raise ValueError("it must contain `{number}` or `{slug}`, so that each issue has its own branch")
        if set("{}") & set(example):
            raise ValueError("it may contain `{number}` and `{slug}` and no other braces")
        if _NOT_IN_REFS.search(example):
            raise ValueError(f"{_shown(value)} gives no branch name that git accepts")
        return value

    @field_validator("model")
    @classmethod
    def _check_model(cls, value: str, info: ValidationInfo) -> str:
        if info.context is None:
            return value  # read back from a record; it was checked when the file was read
        offered = sorted(info.context.get("models", ()))
        if value not in offered:
            choice = f"choose one of {', '.join(offered)}" if offered else "remove the line"
            raise ValueError(f"this server does not offer {_shown(value)}; {choice}")
        return value


async def load_config(
    github: GitHub, repo: RepoRef, ref: str, *, models: Collection[str] = ()
) -> RepositoryConfig:
    """The configuration at a base branch or commit; defaults where the repository has none.

    `models` are the names that the server's owner offers. Raises RefusalError naming file and line.
    """
    found = {
        path: raw for path in CONFIG_PATHS if (raw := await github.file(repo, path, ref=ref)) is not None
    }
    return config_in(found, models=models)


def config_in(files: Mapping[str, bytes], *, models: Collection[str] = ()) -> RepositoryConfig:
    """The configuration among the files of a base commit. Raises RefusalError as `load_config` does."""
    found = [path for path in CONFIG_PATHS if path in files]
    if len(found) > 1:
        raise RefusalError(f"both {' and '.join(found)} exist; delete one of them")
    return parse_config(files[found[0]], path=found[0], models=models) if found else RepositoryConfig()


def parse_config(raw: bytes, *, path: str, models: Collection[str] = ()) -> RepositoryConfig:
    """The configuration in a file. Raises one RefusalError that names every faulty line."""
    document = read_yaml(raw, path=path)
    try:
        return RepositoryConfig.model_validate(document.values, context={"models": models})
    except ValidationError as error:
        faults = sorted((document.line(fault["loc"]), _fault(fault)) for fault in error.errors())
        texts = [f"line {line}: {text}" for line, text in faults]
        more = [f"and {len(texts) - _MAX_FAULTS} more faults"] if len(texts) > _MAX_FAULTS else []
        raise RefusalError(f"{path}, {'; '.join(texts[:_MAX_FAULTS] + more)}") from error


def _fault(fault: ErrorDetails) -> str:
    """One fault in plain words: which key, what is wrong, what to do."""
    key = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return _unknown(fault["loc"])
    wanted = _WANTED.get(fault["type"])
    if wanted:
        return f"`{key}` must be {wanted}, not {_shown(fault['input'])}"
    message = fault["msg"].removeprefix("Value error, ")
    return f"`{key}`: {message[:1].lower()}{message[1:]}"


_WANTED = {
    "string_type": "text (put it in quotes)",
    "tuple_type": "a list, one `- entry` a line",
    "int_type": "a whole number",
    "float_type": "a number",
    "model_type": "a group of indented `key: value` lines",
}


def _unknown(place: tuple[int | str, ...]) -> str:
    group = RepositoryLimits if place[0] == "limits" else RepositoryConfig
    known = list(group.model_fields)
    near = get_close_matches(str(place[-1]).lower(), known, n=1)
    advice = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}"
    return f"there is no key {_shown(place[-1])}; {advice}"


def _shown(value: Any) -> str:
    """A value as it may stand in a message: one short line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
