"""What the image of the Docker backend is made from, so that one made from something else is noticed."""

from hashlib import sha256
from pathlib import Path

LABEL = "issuewright.inputs"
"""The image's label that holds the hash of its inputs."""
_IMAGES = Path(__file__).parent.parent / "images"
_INPUTS = ("Dockerfile", "build.sh", "requirements.lock", "_issuewright.pth", "../site_hook.py")


def inputs_digest() -> str:
    """The hash that `images/build.sh` would label an image with now, in lower-case hexadecimal."""
    return sha256(b"".join((_IMAGES / name).read_bytes() for name in _INPUTS)).hexdigest()
