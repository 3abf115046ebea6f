"""Take secrets out of any text before it leaves: the process's own, and whatever has the form of one."""

import re
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, SecretStr

from bot.settings import Settings

REDACTED = "[redacted]"

_SHORTEST = 6
"""Shorter secrets are left alone: taken out, they would tear other words apart."""

_JWT = r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    + "|".join(
        (
            # GitHub's tokens, of any length; since 2026 an installation's may hold a JWT.
            rf"gh[oprsu]_(?:[0-9]+_{_JWT}|(?=[a-z_]*[A-Z0-9])[A-Za-z0-9_]{{16,}})",
            r"github_pat_(?=[a-z_]*[A-Z0-9])[A-Za-z0-9_]{16,}",
            _JWT,
            r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])",
            r"sk-(?=[A-Za-z_-]*[0-9])(?=[a-z0-9_-]*[A-Z])[A-Za-z0-9_-]{20,}",
            r"(?:hf_|npm_)[A-Za-z0-9]{30,}",
            r"(?:glpat-|xox[abprs]-)(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",
            r"pypi-[A-Za-z0-9_-]{50,}",
        )
    )
    + ")"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S]){0,20000}?"
    r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----|\Z)"
)
_HEADER = re.compile(
    r"\b((?i:bearer|basic|authorization:[ \t]{0,9}token)[ \t]{1,9})(?=[A-Za-z._~+/-]*[0-9=])[\w.~+/=-]{16,}"
)
_USERINFO = re.compile(
    r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)[^\s/@:\"'`<>]{0,200}:(?![{$%<])[^\s/@\"'`<>]{1,500}@"
)


class Redactor:
    """Replaces secrets by `[redacted]`; its own secrets never show in its repr."""

    def __init__(self, secrets: Collection[str] = ()) -> None:
        """The secrets that this process knows, found in plain, base64 and URL form as well."""
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def __call__(self, text: str) -> str:
        """The text without them."""
        if self._known is not None:
            text = self._known.sub(REDACTED, text)
        if "PRIVATE KEY-----" in text:
            text = _PRIVATE_KEY.sub(REDACTED, text)
        text = _HEADER.sub(rf"\1{REDACTED}", _TOKENS.sub(REDACTED, text))
        return _USERINFO.sub(rf"\1{REDACTED}@", text) if "://" in text else text


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Every secret among the settings, with the content of the private key's file."""
    found = [*_secret_values(settings), urlsplit(settings.service.database_url or "").password or ""]
    if settings.github.private_key_file is not None:
        # What cannot be read cannot leak; whoever needs the key says so.
        with suppress(OSError):
            found.append(settings.github.private_key_file.read_text("utf-8", errors="replace"))
    return tuple(secret for secret in found if secret.strip())


def _secret_values(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, BaseModel):
        yield from _secret_values([getattr(value, name) for name in type(value).model_fields])
    elif isinstance(value, Mapping):
        yield from _secret_values([*value.values()])
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _secret_values(item)


def _forms(secret: str) -> Iterator[str]:
    """The secret as it may show: as it is, URL-encoded, within base64 as in Basic auth; a key by line."""
    stripped = secret.strip().replace("\\n", "\n")
    yield secret.strip()
    if "\n" in stripped:
        yield from (line.strip() for line in stripped.split("\n") if len(line) >= 40 and "-----" not in line)
        return
    yield quote(stripped, safe="")
    for offset in range(3):
        yield from _inside_base64(b"\0" * offset, stripped.encode())


def _inside_base64(before: bytes, secret: bytes) -> Iterator[str]:
    """The characters of base64 that the secret alone decides, when so many bytes stand before it."""
    encoded = b64encode(before + secret).decode().rstrip("=")
    first = -(-len(before) * 8 // 6)
    last = (len(before) + len(secret)) * 8 // 6
    inside = encoded[first:last]
    yield inside
    yield inside.replace("+", "-").replace("/", "_")
