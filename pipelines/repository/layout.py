"""Where a Python repository keeps its packages and tests, read from its files alone."""

import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipelines.errors import RefusalError
from pipelines.repository.config import ProjectConfig, read_config
from pipelines.repository.names import snake_slug, suggested_path
from pipelines.repository.paths import unsafe_reason
from pipelines.repository.snapshot import RepositorySnapshot

_NOT_PACKAGES = re.compile(
    "benchmarks|build|ci|dist|docs?|env|examples|notebooks|samples|scripts|tests?|testing|tools|vendor|venv"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The places that matter for a new module; `.` stands for the repository's root."""

    roots: tuple[str, ...]
    """Directories that import names start from, the one for new code first."""
    packages: tuple[str, ...]
    """Paths of the top-level packages, the project's own first."""
    test_dir: str
    pythonpath: tuple[str, ...]
    """Entries that make modules and tests importable, relative to the root."""
    test_command: tuple[str, ...] | None
    """How the existing tests run; None when there are none."""
    notes: tuple[str, ...] = ()
    """What could not be read, for the person to see."""


def read_layout(snapshot: RepositorySnapshot) -> Layout:
    """Work out the layout from the declared configuration, then from the files; it never fails."""
    config = read_config(snapshot)
    roots = _roots(snapshot, config)
    packages = _packages(snapshot, config, roots)
    entries = [*roots, ".", *(entry for entry in map(_normal, config.pythonpath) if entry)]
    return Layout(
        roots=roots,
        packages=packages,
        test_dir=_test_dir(snapshot, config, packages),
        pythonpath=tuple(dict.fromkeys(entries)),
        test_command=_test_command(snapshot, config),
        notes=tuple(config.notes),
    )


def module_name(path: str, layout: Layout) -> str:
    """The dotted name under which a `.py` path is imported, from the innermost source root that holds it.

    Raises RefusalError for a path that no import statement can name.
    """
    inside = [root for root in layout.roots if root == "." or path.startswith(f"{root}/")]
    root = max(inside, key=lambda root: 0 if root == "." else len(root), default=".")
    relative = path if root == "." else path.removeprefix(f"{root}/")
    parts = relative.removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        parts.pop()
    if not parts or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise RefusalError(
            f"{path!r} cannot be imported: every part of a module's path must be a Python name; "
            f"ask for a path such as {suggested_path(path)!r}"
        )
    return ".".join(parts)


def _roots(snapshot: RepositorySnapshot, config: ProjectConfig) -> tuple[str, ...]:
    declared = [*config.roots, *(_parent(package) for package in config.packages)]
    roots = [root for root in map(_normal, declared) if root and f"{root}/__init__.py" not in snapshot.files]
    has_source_root = "src" in snapshot.directories and "src/__init__.py" not in snapshot.files
    if has_source_root:
        roots.append("src")
    elif "src" not in snapshot.directories:
        return tuple(dict.fromkeys([*roots, ".", "src"]))
    return tuple(dict.fromkeys([*roots, "."]))


def _packages(snapshot: RepositorySnapshot, config: ProjectConfig, roots: Iterable[str]) -> tuple[str, ...]:
    declared = [path for path in map(_normal, config.packages) if path in snapshot.directories]
    found = list(dict.fromkeys([*declared, *(path for root in roots for path in _found(snapshot, root))]))
    own = snake_slug(config.project_name, fallback="") if config.project_name else ""
    return tuple(sorted(found, key=lambda path: _name(path) != own))


def _found(snapshot: RepositorySnapshot, root: str) -> Iterator[str]:
    """Importable directories directly below a root; below the repository's own, regular packages only."""
    prefix = "" if root == "." else f"{root}/"
    for directory in sorted(snapshot.directories):
        name = directory.removeprefix(prefix)
        if not directory.startswith(prefix) or "/" in name or not name.isidentifier():
            continue
        if f"{directory}/__init__.py" in snapshot.files:
            regular = True
        else:
            regular = root != "." and any(
                path.startswith(f"{directory}/") and path.endswith(".py") for path in snapshot.files
            )
        if regular and not _NOT_PACKAGES.fullmatch(name):
            yield directory


def _test_dir(snapshot: RepositorySnapshot, config: ProjectConfig, packages: tuple[str, ...]) -> str:
    declared = [path for path in map(_normal, config.testpaths) if path and "test" in _name(path)]
    usual = ["tests", "test", *(f"{package}/{name}" for package in packages for name in ("tests", "test"))]
    existing = [path for path in [*declared, *usual] if path in snapshot.directories]
    return next(iter([*existing, *declared]), "tests")


def _test_command(snapshot: RepositorySnapshot, config: ProjectConfig) -> tuple[str, ...] | None:
    tests = [path for path in snapshot.files if is_test_file(path)]
    if not tests:
        return None
    if not config.uses_pytest and all(_is_plain_unittest(snapshot.files[path]) for path in tests):
        return ("python", "-m", "unittest", "discover")
    return ("python", "-m", "pytest")


def is_test_file(path: str) -> bool:
    """Whether a test runner collects this path by its name."""
    name = _name(path)
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _is_plain_unittest(source: bytes) -> bool:
    return b"unittest" in source and b"pytest" not in source


def _normal(path: str) -> str:
    """The path without `./` and a final slash; '' when it leaves the repository or holds a pattern."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if (
        path.startswith("/")
        or any(char in path for char in "*?[{")
        or (parts and unsafe_reason("/".join(parts)))
    ):
        return ""
    return "/".join(parts) or "."


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _parent(path: str) -> str:
    return path.rstrip("/").rpartition("/")[0] or "."
