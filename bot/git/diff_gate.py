"""Which generated files never leave this machine: by their path, or by a secret in them."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from pipelines.errors import RefusalError
from pipelines.repository.paths import unwritable_reason
from pipelines.repository.rules import EVERYTHING, check_allowed

DENIED_NAMES = (
    *(".env", ".env.*", ".netrc", ".npmrc", ".pypirc", ".git-credentials", "id_rsa*", "id_ed25519*", "*.pem"),
    *(".gitattributes", ".gitmodules", ".gitignore", ".lfsconfig", "codeowners"),
    *("__pycache__", "*.pyc", ".venv", "node_modules", ".pytest_cache", ".mypy_cache", ".coverage"),
    *("setup.py", "setup.cfg", "pyproject.toml", "requirements*.txt", "pip.conf", "sitecustomize.py"),
)
"""Names of files and folders that are refused at any depth, in lower case."""

_SECRETS = {
    "a private key": rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,200}?[A-Za-z0-9+/]{40}",
    "a GitHub token": rb"\b(?:gh[oprsu]_[A-Za-z0-9_.\-]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "an AWS key": rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|"
    rb"(?i:aws_secret_access_key)[\"']?\s*[=:]\s*[\"']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
}
_MIN_SECRET = 8
_HFS_IGNORED = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF])
_SHORT_WORKFLOWS = re.compile(r"(\.github|github~\d+)/(workflows|workfl~\d+)/")


def check_paths(
    paths: Iterable[str], *, allowed: Collection[str] = EVERYTHING, denied: Collection[str] = DENIED_NAMES
) -> None:
    """Raise RefusalError for a path that no allowed pattern fits, or that has a denied name in it.

    Workflows are refused in every spelling that some file system takes for theirs.
    """
    for path in paths:
        reason = unwritable_reason(path) or _workflow_reason(path) or _denied_reason(path, denied)
        if reason:
            raise RefusalError(f"{path!r} is not pushed: {reason}")
        check_allowed([path], tuple(allowed))


def check_contents(
    files: Mapping[str, bytes], before: Mapping[str, bytes], *, secrets: Collection[str] = ()
) -> None:
    """Raise RefusalError naming file and line of a secret that the file did not hold before.

    `secrets` are this process's own. The message never holds what was found.
    """
    own = [secret.encode() for secret in secrets if len(secret) >= _MIN_SECRET]
    for path, content in sorted(files.items()):
        old = before.get(path, b"")
        for kind, found, at in _secrets(content, own):
            if found not in old:
                line = content.count(b"\n", 0, at) + 1
                raise RefusalError(
                    f"{path!r} is not pushed: line {line} holds {kind}; take it out of the issue and "
                    "the repository, and start again"
                )


def _secrets(content: bytes, own: Iterable[bytes]) -> Iterator[tuple[str, bytes, int]]:
    for kind, pattern in _SECRETS.items():
        for match in re.finditer(pattern, content):
            if not match[0].endswith(b"EXAMPLE"):  # as in AWS's own documentation
                yield kind, match[0], match.start()
    for secret in own:
        if secret in content:
            yield "one of this server's own secrets", secret, content.index(secret)


def _denied_reason(path: str, denied: Collection[str]) -> str | None:
    for name in path.split("/"):
        plain = _plain(name)
        if any(fnmatchcase(plain, pattern) for pattern in denied):
            return f"files named {name!r} are never generated, at whatever depth; change it by hand"
    return None


def _workflow_reason(path: str) -> str | None:
    if _SHORT_WORKFLOWS.match("/".join(map(_plain, path.split("/")))):
        return "generated files never go into .github/workflows; change workflows by hand"
    return None


def _plain(name: str) -> str:
    """The name as a forgiving file system reads it: no letter case, final dots or invisible letters."""
    shown = unicodedata.normalize("NFC", name.translate(_HFS_IGNORED)).casefold()
    return unicodedata.normalize("NFC", shown).split(":")[0].rstrip(". ")
