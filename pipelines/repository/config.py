"""What a repository's configuration files declare about packages and tests; broken files become notes."""

import configparser
import tomllib
from dataclasses import dataclass, field
from typing import Any

from pipelines.repository.snapshot import RepositorySnapshot


@dataclass(slots=True)
class ProjectConfig:
    """Declared paths, as written."""

    project_name: str = ""
    roots: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    testpaths: list[str] = field(default_factory=list)
    pythonpath: list[str] = field(default_factory=list)
    uses_pytest: bool = False
    notes: list[str] = field(default_factory=list)


def read_config(snapshot: RepositorySnapshot) -> ProjectConfig:
    """Read `pyproject.toml`, then `setup.cfg`, `pytest.ini` and `tox.ini`; it never fails."""
    config = ProjectConfig()
    _read_pyproject(snapshot, config)
    for path, pytest_section in (
        ("pytest.ini", "pytest"),
        ("tox.ini", "pytest"),
        ("setup.cfg", "tool:pytest"),
    ):
        _read_ini(snapshot, path, pytest_section, config)
    return config


def _read_pyproject(snapshot: RepositorySnapshot, config: ProjectConfig) -> None:
    text = snapshot.text("pyproject.toml")
    if text is None:
        return
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        config.notes.append(
            f"pyproject.toml could not be read ({error}); the layout is guessed from the files"
        )
        return
    config.project_name = _string(_at(data, "project", "name")) or _string(
        _at(data, "tool", "poetry", "name")
    )
    _read_hatch(data, config)
    _read_setuptools(data, config)
    _read_poetry(data, config)
    _read_other_backends(data, config)
    options = _at(data, "tool", "pytest", "ini_options")
    if isinstance(options, dict):
        config.uses_pytest = True
        config.testpaths += _strings(options.get("testpaths"))
        config.pythonpath += _strings(options.get("pythonpath"))


def _read_hatch(data: dict[str, Any], config: ProjectConfig) -> None:
    for build in (
        _at(data, "tool", "hatch", "build"),
        _at(data, "tool", "hatch", "build", "targets", "wheel"),
    ):
        config.packages += _strings(_at(build, "packages"))
        sources = _at(build, "sources")
        config.roots += list(sources) if isinstance(sources, dict) else _strings(sources)


def _read_setuptools(data: dict[str, Any], config: ProjectConfig) -> None:
    setuptools = _at(data, "tool", "setuptools")
    config.roots += _strings(_at(setuptools, "packages", "find", "where"))
    directories = _at(setuptools, "package-dir")
    if isinstance(directories, dict):
        _add_package_dirs({name: _string(path) for name, path in directories.items()}, config)


def _read_poetry(data: dict[str, Any], config: ProjectConfig) -> None:
    packages = _at(data, "tool", "poetry", "packages")
    for package in packages if isinstance(packages, list) else []:
        include, root = _string(_at(package, "include")), _string(_at(package, "from"))
        if include:
            config.packages.append(f"{root}/{include}" if root else include)


def _read_other_backends(data: dict[str, Any], config: ProjectConfig) -> None:
    for keys in (("pdm", "build", "package-dir"), ("uv", "build-backend", "module-root")):
        config.roots += _strings(_at(data, "tool", *keys))


def _read_ini(snapshot: RepositorySnapshot, path: str, section: str, config: ProjectConfig) -> None:
    text = snapshot.text(path)
    if text is None:
        return
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        config.notes.append(f"{path} could not be read ({error}); it is ignored")
        return
    if parser.has_section(section):
        config.uses_pytest = True
        config.testpaths += parser.get(section, "testpaths", fallback="").split()
        config.pythonpath += parser.get(section, "pythonpath", fallback="").split()
    if path == "setup.cfg":
        config.project_name = config.project_name or parser.get("metadata", "name", fallback="")
        config.roots += parser.get("options.packages.find", "where", fallback="").split()
        lines = parser.get("options", "package_dir", fallback="").splitlines()
        pairs = (line.partition("=") for line in lines if "=" in line)
        _add_package_dirs({name.strip(): directory.strip() for name, _, directory in pairs}, config)


def _add_package_dirs(directories: dict[str, str], config: ProjectConfig) -> None:
    """setuptools' package-dir: the empty name is a root; any other is a package at its own path."""
    for name, path in directories.items():
        if name == "":
            config.roots.append(path)
        elif path.rpartition("/")[2] == name:
            config.packages.append(path)


def _at(data: object, *keys: str) -> object:
    """The value below these keys, or None where the file has another shape."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: object) -> list[str]:
    """One string, which may hold several separated by spaces, or a list of them."""
    if isinstance(value, str):
        return value.split()
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
