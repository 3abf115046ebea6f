"""Images with a repository's packages: the base image and one read-only layer more, made once."""

import os
import stat
import tarfile
import tempfile
import time
from pathlib import Path
from typing import IO

import docker
from docker.errors import DockerException, ImageNotFound
from docker.models.images import Image

from sandbox.docker.reaper import labels_for
from sandbox.errors import SandboxBroken
from sandbox.protocol import MIB, PACKAGES_DIR, Packages

REPOSITORY = "issuewright-packages"
_IN_MEMORY = 32 * MIB
_DIGITS = 16
_SECONDS = 3600


def image_with(client: docker.DockerClient, base: str, packages: Packages) -> str:
    """The id of the base image (named by id) with the packages on top, built if it is not there yet.

    Nothing runs while it is built. Raises SandboxBroken when the engine fails.
    """
    tag = f"{packages.digest[:_DIGITS]}-{base.removeprefix('sha256:')[:_DIGITS]}"
    try:
        try:
            found = client.images.get(f"{REPOSITORY}:{tag}")
        except ImageNotFound:
            found = _built(client, base, packages, tag)
        return str(found.id)
    except (DockerException, OSError) as error:
        raise SandboxBroken(f"the Docker engine cannot make an image with the packages: {error}") from error


def _built(client: docker.DockerClient, base: str, packages: Packages, tag: str) -> Image:
    container = client.containers.create(
        base, ["true"], network_mode="none", labels=labels_for(job="packages", expires=time.time() + _SECONDS)
    )
    try:
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as archive:
            _write_archive(packages.folder, archive)
            archive.seek(0)
            container.put_archive("/", archive)
        return container.commit(repository=REPOSITORY, tag=tag)
    finally:
        container.remove(force=True)


def _write_archive(folder: Path, stream: IO[bytes]) -> None:
    """The folder as it shall lie in the image: root's, readable by all, without links or special files."""
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for parent in reversed([PACKAGES_DIR, *PACKAGES_DIR.parents][:-1]):
            archive.addfile(_entry(str(parent), tarfile.DIRTYPE, 0o755))
        for root, folders, files in os.walk(folder):
            place = PACKAGES_DIR / Path(root).relative_to(folder)
            for name in sorted(folders):
                archive.addfile(_entry(str(place / name), tarfile.DIRTYPE, 0o755))
            for name in sorted(files):
                _add_file(archive, Path(root, name), str(place / name))


def _add_file(archive: tarfile.TarFile, source: Path, name: str) -> None:
    status = source.lstat()
    if stat.S_ISREG(status.st_mode):
        entry = _entry(name, tarfile.REGTYPE, 0o755 if status.st_mode & stat.S_IXUSR else 0o644)
        with source.open("rb") as content:
            entry.size = os.fstat(content.fileno()).st_size
            archive.addfile(entry, content)


def _entry(path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.lstrip("/"))
    entry.type, entry.mode = kind, mode
    return entry
