"""The Python that a box sees: the running interpreter with pytest and little else.

A virtual environment is laid out at /opt/toolchain. Its site-packages holds, by read-only bind, only what
pytest and the other packages of the Docker image need of the running environment, and the site hook.
"""

import py_compile
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

from sandbox.errors import SandboxUnavailable

TOOLCHAIN_DIR = PurePosixPath("/opt/toolchain")
_NEEDED = ("pytest",)
_IMAGES = Path(__file__).parent.parent / "images"
_HOOK = Path(__file__).parent.parent / "site_hook.py"
_HOOK_NAMES = ("_issuewright.pth", "_issuewright_site.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """Where the parts of the box's Python are on this machine."""

    interpreter: Path
    prefix: Path
    version: str
    """Major and minor, such as `3.11`."""
    packages: Mapping[str, Path]
    """Name in site-packages to the file or folder on this machine."""

    def lay_out(self, folder: Path) -> None:
        """Write the skeleton of the environment, with a place for each package to be bound at."""
        (folder / "bin").mkdir(parents=True)
        for name in ("python", "python3", f"python{self.version}"):
            (folder / "bin" / name).symlink_to(self.interpreter)
        (folder / "pyvenv.cfg").write_text(
            f"home = {self.interpreter.parent}\ninclude-system-site-packages = false\n"
        )
        script = folder / "bin" / "pytest"
        script.write_text(f'#!/bin/sh\nexec {TOOLCHAIN_DIR}/bin/python -P -m pytest "$@"\n')
        script.chmod(0o755)
        site = folder / self._site
        site.mkdir(parents=True)
        starter, hook = (site / name for name in _HOOK_NAMES)
        starter.write_bytes((_IMAGES / starter.name).read_bytes())
        hook.write_bytes(_HOOK.read_bytes())
        # Boxes cannot write bytecode; without it every Python would compile the hook anew.
        py_compile.compile(str(hook), dfile=str(TOOLCHAIN_DIR / self._site / hook.name), doraise=True)
        for name, source in self.packages.items():
            if source.is_dir():
                (site / name).mkdir()
            else:
                (site / name).touch()

    def binds(self, skeleton: Path) -> Iterator[tuple[Path, PurePosixPath]]:
        """What to bind read-only, in this order: path on this machine, path in the box."""
        if not self.prefix.is_relative_to("/usr"):
            yield self.prefix, PurePosixPath(self.prefix)
        yield skeleton, TOOLCHAIN_DIR
        for name, source in self.packages.items():
            yield source, TOOLCHAIN_DIR / self._site / name

    def hidden(self) -> Iterator[PurePosixPath]:
        """Folders in the box to cover, so that packages of the interpreter's own do not show."""
        library = self.prefix / "lib"
        for folder in (library / f"python{self.version}", library / "python3"):
            for name in ("site-packages", "dist-packages"):
                if (folder / name).is_dir():
                    yield PurePosixPath(folder / name)

    @property
    def _site(self) -> PurePosixPath:
        return PurePosixPath("lib", f"python{self.version}", "site-packages")


def find_toolchain() -> Toolchain:
    """Describe the running interpreter's toolchain; raises SandboxUnavailable without pytest."""
    try:
        needed = [distribution(name) for name in _NEEDED]
    except PackageNotFoundError as error:
        raise SandboxUnavailable(
            f"the sandbox needs {error.name} beside {sys.executable}; install it there with pip"
        ) from error
    closure = _closure([*needed, *_installed(_image_packages())])
    return Toolchain(
        interpreter=Path(getattr(sys, "_base_executable", sys.executable)).resolve(),
        prefix=Path(sys.base_prefix).resolve(),
        version=f"{sys.version_info.major}.{sys.version_info.minor}",
        packages={name: path for dist in closure for name, path in _top_level(dist)},
    )


def _image_packages() -> list[str]:
    """What the Docker image is made of: both kinds of box offer the same, where it is installed here."""
    lines = (_IMAGES / "requirements.txt").read_text().splitlines()
    return [Requirement(line).name for line in lines]


def _installed(names: Iterable[str]) -> Iterator[Distribution]:
    for name in names:
        try:
            yield distribution(name)
        except PackageNotFoundError:
            continue


def _closure(roots: Iterable[Distribution]) -> list[Distribution]:
    """The distributions and all that they require here; extras are left out."""
    found: dict[str, Distribution] = {}
    waiting = list(roots)
    while waiting:
        current = waiting.pop()
        if current.name in found:
            continue
        found[current.name] = current
        required = (Requirement(line) for line in current.requires or ())
        waiting += _installed(
            one.name for one in required if one.marker is None or one.marker.evaluate({"extra": ""})
        )
    return list(found.values())


def _top_level(dist: Distribution) -> Iterator[tuple[str, Path]]:
    for name in sorted({file.parts[0] for file in dist.files or ()} - {"..", "__pycache__"}):
        path = Path(str(dist.locate_file(name)))
        if path.exists():
            yield name, path
