"""The image of the Docker backend: its lock, its build script, and the image that is there."""

import json
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import sandbox
from sandbox import DockerBackend, Limits, Sandbox, SandboxUnavailable
from sandbox.docker.backend import DEFAULT_IMAGE
from sandbox.docker.image_inputs import LABEL, inputs_digest
from sandbox.docker.pool import PoolSettings

IMAGES = Path(sandbox.__file__).parent / "images"
BUILD = IMAGES / "build.sh"
LOCK = (IMAGES / "requirements.lock").read_text()
REQUIREMENTS = [Requirement(line) for line in (IMAGES / "requirements.txt").read_text().splitlines()]
ENTRY = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>\S+) \\\n(?P<rest>(?:    .*\n?)+)", re.MULTILINE)
PINS = {match["name"]: match["version"] for match in ENTRY.finditer(LOCK)}
IMPORT_ALL = """
import importlib, sys
from importlib.metadata import distributions
from json import dumps
found = {}
for dist in distributions():
    for file in dist.files or ():
        if len(file.parts) == 2 and file.parts[1] == "__init__.py" and file.parts[0].isidentifier():
            importlib.import_module(file.parts[0])
    found[dist.name] = dist.version
print(dumps(found))
"""


def label_of(image: str) -> str:
    told = subprocess.run(["docker", "image", "inspect", image], capture_output=True, text=True, check=True)
    labels = json.loads(told.stdout)[0]["Config"]["Labels"] or {}
    return str(labels.get(LABEL))


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_the_lock_meets_each_requirement(requirement: Requirement) -> None:
    assert Version(PINS[canonicalize_name(requirement.name)]) in requirement.specifier


def test_every_line_of_the_lock_is_a_pin_with_hashes() -> None:
    assert {match["name"] for match in ENTRY.finditer(LOCK) if "--hash=sha256:" in match["rest"]} == set(PINS)
    other = ENTRY.sub("", LOCK)
    assert other.strip() == ""


def test_nothing_says_where_the_packages_came_from() -> None:
    for path in sorted(IMAGES.iterdir()):
        text = path.read_text()
        assert not re.search("(?<!no-emit-)index-url|find-links|trusted-host", text), path.name
        assert not re.findall(r"https?://", text), path.name


def test_the_script_and_the_backend_agree_on_the_inputs() -> None:
    told = subprocess.run([BUILD, "--inputs"], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == inputs_digest()


def test_the_script_builds_the_backends_image_unless_told_otherwise() -> None:
    assert f"image=${{1:-{DEFAULT_IMAGE}}}" in BUILD.read_text()


def test_an_unknown_way_to_build_is_refused() -> None:
    ended = subprocess.run([BUILD, "no-such-image:0", "magic"], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "unknown way 'magic'" in ended.stderr


def test_the_script_has_no_fault_that_a_shell_can_see() -> None:
    subprocess.run(["sh", "-n", BUILD], check=True)


@pytest.fixture
async def docker_box() -> AsyncIterator[Sandbox]:
    """A box from the image; skipped where no engine has it."""
    backend = DockerBackend(pool=PoolSettings(size=0))
    try:
        await backend.check()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    box = await backend.create(Limits())
    yield box
    await box.destroy()
    await backend.close()


@pytest.fixture
def image(docker_box: Sandbox) -> str:
    """The image, where an engine has it."""
    return DEFAULT_IMAGE


@pytest.mark.docker
class TestTheRealImage:
    def test_it_is_made_from_the_inputs_of_now(self, image: str) -> None:
        assert label_of(image) == inputs_digest(), "run sandbox/images/build.sh"

    def test_an_image_that_is_up_to_date_is_not_built_again(self, image: str) -> None:
        told = subprocess.run([BUILD, image], capture_output=True, text=True, check=True, timeout=20)
        assert told.stdout == f"build.sh: {image} is up to date\n"

    async def test_every_package_of_the_lock_is_in_it_and_can_be_imported(self, docker_box: Sandbox) -> None:
        told = await docker_box.run(["python", "-c", IMPORT_ALL], limits=Limits(wall_seconds=120))
        assert told.exit_code == 0, told.stderr.text
        found = {canonicalize_name(name): version for name, version in json.loads(told.stdout.text).items()}
        assert found == PINS

    async def test_its_python_starts_the_hook_with_compiled_code(self, docker_box: Sandbox) -> None:
        program = "import _issuewright_site as hook, sys; print(hook.__cached__, sys.version_info[:2])"
        told = await docker_box.run(["python", "-X", "importtime", "-c", program])
        compiled, _, version = told.stdout.text.partition(" ")
        assert version == "(3, 11)\n"
        assert (await docker_box.run(["test", "-f", compiled])).ok

    async def test_pytest_can_be_called_by_name_but_pip_is_gone(self, docker_box: Sandbox) -> None:
        assert (await docker_box.run(["pytest", "--version"])).stdout.text.startswith("pytest ")
        assert (await docker_box.run(["python", "-c", "import pip"])).exit_code == 1
