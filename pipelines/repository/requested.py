"""Turns a path as a person wrote it into the path of a Python module, or explains why it cannot be one."""

import re

from pipelines.errors import RefusalError
from pipelines.repository.layout import Layout
from pipelines.repository.names import suggested_path
from pipelines.repository.paths import unwritable_reason
from pipelines.repository.snapshot import RepositorySnapshot

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_OTHER_FILES = re.compile(
    "avi|bmp|c|cfg|conf|cpp|cs|css|csv|db|dat|docx|env|gif|go|h|html|ico|ini|ipynb|java|jpe?g|jsx?|jsonl?|lock|"
    "log|md|mp[34]|np[yz]|onnx|parquet|pdf|pickle|pkl|png|rb|rs|rst|sh|sql|sqlite|svg|toml|tsx?|tsv|txt|wav|webp|"
    "xlsx?|xml|ya?ml|zip"
)


def resolve_request(wanted: str, *, layout: Layout, snapshot: RepositorySnapshot, slug: str) -> str:
    """The repository path that a requested path, directory or dotted module means.

    Raises RefusalError for a path outside the repository, in git's own files, or not of a Python module.
    """
    written = wanted.strip().strip("`'\"").replace("\\", "/")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://|~", written):
        raise _refusal(wanted, "it is not a path inside the repository")
    is_directory = written.endswith("/") or written == "."
    path = re.sub(r"/{2,}", "/", written)
    while path.startswith("./"):
        path = path[2:]
    path = path.rstrip("/") if path != "/" else path
    if path in ("", "."):
        return f"{slug}.py"
    reason = unwritable_reason(path)
    if reason:
        raise _refusal(wanted, reason)
    if is_directory or ("/" in path and _located(path, layout, snapshot) in snapshot.directories):
        return f"{_located(path, layout, snapshot)}/{slug}.py"
    if path.endswith(".py"):
        return _known_file(path, snapshot) or _located(path, layout, snapshot)
    return _module_path(wanted, path, layout=layout, snapshot=snapshot, slug=slug)


def _module_path(wanted: str, path: str, *, layout: Layout, snapshot: RepositorySnapshot, slug: str) -> str:
    """The file of a dotted module, or of a path that lacks its `.py`."""
    is_dotted = "/" not in path and _DOTTED.fullmatch(path) is not None
    as_path = path.replace(".", "/") if is_dotted else path
    top = as_path.partition("/")[0]
    known_top = any(_join(root, top) in snapshot.directories for root in layout.roots)
    extension = path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path else ""
    if extension and not (is_dotted and (known_top or not _OTHER_FILES.fullmatch(extension))):
        raise _refusal(wanted, f"only Python modules are written, and a .{extension} file is not one")
    located = _located(as_path, layout, snapshot)
    if f"{located}/__init__.py" in snapshot.paths:
        return f"{located}/__init__.py"
    return f"{located}/{slug}.py" if located in snapshot.directories else f"{located}.py"


def _located(path: str, layout: Layout, snapshot: RepositorySnapshot) -> str:
    """The path below the source root that already holds its first part; as it is where none does."""
    top, slash, _ = path.partition("/")
    if path in snapshot.paths or top in snapshot.directories or top in layout.roots:
        return path
    holders = [root for root in layout.roots if _join(root, top) in snapshot.directories]
    if holders:
        return _join(holders[0], path)
    modules = [root for root in layout.roots if _join(root, f"{path}.py") in snapshot.paths]
    if slash or path.endswith(".py"):
        return path
    return _join(next(iter([*modules, *layout.roots])), path)


def _known_file(path: str, snapshot: RepositorySnapshot) -> str | None:
    """The one existing file that a bare file name can mean."""
    if "/" in path or path in snapshot.paths or path == "__init__.py":
        return None
    matches = [known for known in snapshot.paths if known.endswith(f"/{path}")]
    return matches[0] if len(matches) == 1 else None


def _join(root: str, path: str) -> str:
    return path if root == "." else f"{root}/{path}"


def _refusal(wanted: str, reason: str) -> RefusalError:
    return RefusalError(
        f"the requested path {wanted!r} cannot be used: {reason}. "
        f"Ask for a Python file inside the repository, such as {suggested_path('src/text_tools')!r}"
    )
