"""Boxes see a repository's packages: read-only, before the base's own, and nowhere else."""

from pathlib import Path

import pytest

from sandbox import PACKAGES_DIR, Packages, SandboxBackend
from sandbox.docker.client import connected
from sandbox.docker.package_image import REPOSITORY

from .conftest import LIMITS

LOOK = """
import os, greeting, iniconfig
print(greeting.text, iniconfig.__file__)
try:
    open(f"{os.path.dirname(greeting.__file__)}/x", "w")
except OSError as error:
    print(type(error).__name__ in ("PermissionError", "OSError"))
"""


@pytest.fixture
def packages(tmp_path: Path) -> Packages:
    folder = tmp_path / "site"
    (folder / "greeting").mkdir(parents=True)
    (folder / "greeting" / "__init__.py").write_text("text = 'hello'\n")
    (folder / "iniconfig.py").write_text("")  # the base has one too
    (folder / "secret").symlink_to("/etc/shadow")
    return Packages(digest="feed" * 16, folder=folder)


async def test_packages_win_over_the_base_and_cannot_be_changed(
    backend: SandboxBackend, packages: Packages
) -> None:
    box = await backend.with_packages(packages).create(LIMITS)
    try:
        said = await box.run(["python", "-c", LOOK])
        assert said.stdout.text.split() == ["hello", f"{PACKAGES_DIR}/iniconfig.py", "True"], said.stderr.text
        assert (await box.run(["cat", f"{PACKAGES_DIR}/secret"])).exit_code != 0
    finally:
        await box.destroy()
        _forget(packages)


async def test_other_boxes_do_not_see_them(backend: SandboxBackend, packages: Packages) -> None:
    backend.with_packages(packages)
    box = await backend.create(LIMITS)
    try:
        assert (await box.run(["python", "-c", "import greeting"])).exit_code == 1
        assert (await box.run(["ls", str(PACKAGES_DIR)])).exit_code != 0
    finally:
        await box.destroy()


async def test_the_image_is_made_once(backend: SandboxBackend, packages: Packages) -> None:
    if backend.name != "docker":
        pytest.skip("bubblewrap binds the folder")
    try:
        for _ in range(2):
            box = await backend.with_packages(packages).create(LIMITS)
            await box.destroy()
        with connected() as client:
            tags = [tag for image in client.images.list(REPOSITORY) for tag in image.tags]
        assert len([tag for tag in tags if packages.digest[:16] in tag]) == 1
    finally:
        _forget(packages)


def _forget(packages: Packages) -> None:
    """Remove the images that a test made."""
    try:
        with connected() as client:
            for image in client.images.list(REPOSITORY):
                for tag in image.tags:
                    if packages.digest[:16] in tag:
                        client.images.remove(tag)
    except Exception:  # noqa: BLE001  no engine here
        return
