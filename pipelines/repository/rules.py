"""What a repository's owners want of every Run, besides what the issue says."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from pydantic import BaseModel, ConfigDict

from pipelines.errors import RefusalError

EVERYTHING = ("**",)


class RepositoryRules(BaseModel):
    """Rules of one repository; the defaults change nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target_paths: tuple[str, ...] = ()
    """Folders or Python files for new code where the issue names none; the first that exists is taken."""
    allowed_paths: tuple[str, ...] = EVERYTHING
    """Patterns of which every generated file must match one."""
    test_command: tuple[str, ...] = ()
    """Runs the repository's own tests; empty lets pytest find them."""


NO_RULES = RepositoryRules()


def check_allowed(paths: Iterable[str], patterns: Sequence[str]) -> None:
    """Raise RefusalError for a path that matches none of the patterns."""
    for path in paths:
        if not any(matches(path, pattern) for pattern in patterns):
            listed = ", ".join(f"`{pattern}`" for pattern in patterns)
            raise RefusalError(
                f"{path!r} may not be written: the repository's `allowed_paths` are {listed}. "
                "Name another path in the issue, or add a pattern for this one to the configuration"
            )


def matches(path: str, pattern: str) -> bool:
    """Whether the whole path fits: `*` and `?` within one name, `**` any folders, a final `/` all below."""
    parts = pattern.split("/")
    return _fits(path.split("/"), [*parts[:-1], parts[-1] or "**"])


def pattern_fault(pattern: str) -> str | None:
    """Why this can never match a path, or None."""
    parts = (pattern[:-1] if pattern.endswith("/") else pattern).split("/")
    if pattern.startswith("/") or "\\" in pattern:
        return "write it relative to the repository's root, with forward slashes"
    if any(part in ("", ".", "..") for part in parts):
        return "it has an empty part, `.` or `..`; write the path plainly"
    if any("**" in part and part != "**" for part in parts):
        return "`**` must stand alone between slashes, as in `src/**/*.py`"
    if any(part.count("[") != part.count("]") for part in parts):
        return "a `[` lacks its `]`"
    return None


def _fits(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the names fit the pattern's parts, in time proportional to both lengths."""
    reached = {0}
    for part in parts:
        if part == "**":
            reached = set(range(min(reached), len(names) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
    return len(names) in reached
