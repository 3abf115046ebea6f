"""GitHub's signature of a delivery: HMAC-SHA256 over the body's bytes, as they came."""

import hashlib
import hmac
import re

HEADER = "X-Hub-Signature-256"

_FORM = re.compile(r"sha256=[0-9a-f]{64}")


def sign(secret: str, body: bytes) -> str:
    """The header's value for a body, such as `sha256=757107ea…`."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def is_signature(value: str | None) -> bool:
    """Whether a header's value could be a signature at all; what cannot needs no body read."""
    return value is not None and _FORM.fullmatch(value) is not None


def signature_matches(secret: str, body: bytes, value: str | None) -> bool:
    """Whether whoever sent the body knows the secret; takes the same time for every wrong value."""
    return value is not None and is_signature(value) and hmac.compare_digest(sign(secret, body), value)
