"""Chooses the files that a Run writes: which modules, and the test file of each."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from pipelines.errors import RefusalError
from pipelines.repository.layout import Layout, is_test_file, module_name
from pipelines.repository.names import snake_slug
from pipelines.repository.paths import check_writable
from pipelines.repository.requested import resolve_request
from pipelines.repository.snapshot import RepositorySnapshot

_TEST_TOOLS = re.compile("conftest|coverage|hypothesis|nose|noxfile|pluggy|pytest|setup|tasks|tests?|toxfile")
_WINDOWS_DEVICES = re.compile(r"con|prn|aux|nul|com\d|lpt\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One module to write or extend, and where its new tests go."""

    path: str
    module: str
    """Dotted name to import it by."""
    exists: bool
    test_path: str
    """Never an existing file."""
    new_package_inits: tuple[str, ...] = ()
    """`__init__.py` files that the module's new packages need."""


def choose_target(
    layout: Layout,
    snapshot: RepositorySnapshot,
    *,
    requested: Sequence[str],
    slug: str,
    preferred: Sequence[str] = (),
) -> tuple[Target, ...]:
    """The modules that were asked for, or one at a preferred or the conventional place; at least one.

    Of the preferred folders and `.py` files the first that exists is taken, else the first.

    Raises RefusalError for a request outside the repository or for anything but an importable Python module.
    """
    paths = [resolve_request(item, layout=layout, snapshot=snapshot, slug=slug) for item in requested]
    tests = list(dict.fromkeys(path for path in paths if _is_test_request(path, layout)))
    modules = list(dict.fromkeys(path for path in paths if path not in tests))
    if not modules:
        modules = [_unasked_path(layout, snapshot, slug, preferred)]
    targets = [_target(path, layout, snapshot) for path in modules]
    return tuple(_with_tests(targets, tests, layout=layout, snapshot=snapshot, slug=slug))


def _target(path: str, layout: Layout, snapshot: RepositorySnapshot) -> Target:
    if path in snapshot.skipped:
        raise RefusalError(f"{path!r} cannot be changed: {snapshot.skipped[path]}; ask for another file")
    check_writable([path], snapshot.paths)
    module = module_name(path, layout)
    exists = path in snapshot.files
    inits = () if exists else tuple(_missing_inits(path, module, snapshot))
    if not exists and _shadows(module, inits):
        other = path.removesuffix(".py") + "_module.py"
        raise RefusalError(
            f"{path!r} would hide {module.partition('.')[0]!r}, which Python or its test tools need; "
            f"ask for another name, such as {other!r}, or a path inside a package"
        )
    return Target(path=path, module=module, exists=exists, test_path="", new_package_inits=inits)


def _unasked_path(layout: Layout, snapshot: RepositorySnapshot, slug: str, preferred: Sequence[str]) -> str:
    """A preferred file, a free name in a preferred folder, or the conventional place."""
    if not preferred:
        return _conventional_path(layout, snapshot, slug)
    plain = [path.rstrip("/") for path in preferred]
    place = next((path for path in plain if path in snapshot.paths | snapshot.directories), plain[0])
    if place.endswith(".py"):
        return place
    return _free_path(snapshot, f"{place}/", f"module_{slug}" if is_test_file(f"{slug}.py") else slug)


def _conventional_path(layout: Layout, snapshot: RepositorySnapshot, slug: str) -> str:
    """In the project's one package, else at the first source root; never a file that exists."""
    own = layout.packages[:1] if len(layout.packages) == 1 else ()
    folder = next(iter(own), layout.roots[0])
    prefix = "" if folder == "." else f"{folder}/"
    stem = f"module_{slug}" if is_test_file(f"{slug}.py") else slug
    if _is_reserved(stem) and (not own or _WINDOWS_DEVICES.fullmatch(stem)):
        stem = f"{stem}_module"
    return _free_path(snapshot, prefix, stem)


def _free_path(snapshot: RepositorySnapshot, prefix: str, stem: str) -> str:
    return next(path for path in _numbered(prefix, stem) if _is_free(path, snapshot))


def _is_free(path: str, snapshot: RepositorySnapshot) -> bool:
    """Whether neither this file nor a package of its name exists, whatever the letter case."""
    taken = {name.casefold() for name in (*snapshot.paths, *snapshot.directories)}
    return path.casefold() not in taken and path.removesuffix(".py").casefold() not in taken


def _numbered(prefix: str, stem: str) -> Iterator[str]:
    yield f"{prefix}{stem}.py"
    yield from (f"{prefix}{stem}_{number}.py" for number in count(2))


def _is_reserved(name: str) -> bool:
    patterns = (_TEST_TOOLS, _WINDOWS_DEVICES)
    return name in sys.stdlib_module_names or any(pattern.fullmatch(name) for pattern in patterns)


def _shadows(module: str, new_inits: Sequence[str]) -> bool:
    """Whether a new top-level name hides one that Python needs; deeper names hide nothing."""
    top = module.partition(".")[0]
    is_new_top = module == top or any(init.split("/")[-2] == top for init in new_inits)
    return is_new_top and _is_reserved(top)


def _missing_inits(path: str, module: str, snapshot: RepositorySnapshot) -> Iterator[str]:
    """`__init__.py` of every directory of the dotted name that does not exist yet."""
    folders = path.split("/")[:-1]
    depth = module.count(".") if not path.endswith("/__init__.py") else module.count(".") + 1
    for length in range(len(folders) - depth + 1, len(folders) + 1):
        folder = "/".join(folders[:length])
        if folder not in snapshot.directories and f"{folder}/__init__.py" != path:
            yield f"{folder}/__init__.py"


def _is_test_request(path: str, layout: Layout) -> bool:
    return is_test_file(path) and (path.startswith(f"{layout.test_dir}/") or "/" not in path)


def _with_tests(
    targets: Sequence[Target],
    requested: list[str],
    *,
    layout: Layout,
    snapshot: RepositorySnapshot,
    slug: str,
) -> Iterator[Target]:
    """Give each target its own test file; names are unique in the repository, as pytest may need."""
    taken = {path.rpartition("/")[2].casefold() for path in snapshot.paths}
    folder = f"{layout.test_dir}/" if layout.test_dir != "." else ""
    for target in targets:
        wanted = requested.pop(0) if requested else ""
        stem = slug if len(targets) == 1 else f"{slug}_{snake_slug(target.module)}"
        prefix, _, name = wanted.rpartition("/") if wanted else (folder.rstrip("/"), "", f"test_{stem}.py")
        names = _numbered("", name.removesuffix(".py"))
        free = next(candidate for candidate in names if candidate.casefold() not in taken)
        taken.add(free.casefold())
        test_path = f"{prefix}/{free}" if prefix else free
        check_writable([test_path], snapshot.paths)
        yield replace(target, test_path=test_path)
