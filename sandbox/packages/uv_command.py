"""The command line and the environment of the one program that fetches packages: uv, wheels only."""

import os
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from uv import find_uv_bin

from sandbox.errors import SetupFailed

_GLIBC = "manylinux_2_28"
"""Older than that of any base in use; wheels for newer ones would not load."""
_HTTP_TIMEOUT_SECONDS = "30"
_KEPT = re.compile(
    # where this machine keeps things
    r"HOME|PATH|TMPDIR|LANG|LC_ALL|XDG_(?:CONFIG|DATA)_(?:HOME|DIRS)|NETRC"
    # how it connects
    r"|(?:https?|all|no)_proxy|(?:HTTPS?|ALL|NO)_PROXY|SSL_(?:CERT_FILE|CERT_DIR|CLIENT_CERT)"
    # which indexes it trusts
    r"|UV_(?:DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|INDEX_STRATEGY|INSECURE_HOST|NO_INDEX"
    r"|INDEX_\w+_(?:USERNAME|PASSWORD)|KEYRING_PROVIDER|CONFIG_FILE|NO_CONFIG|OFFLINE|EXCLUDE_NEWER"
    r"|NATIVE_TLS|SYSTEM_CERTS|HTTP_TIMEOUT|HTTP_RETRIES|CREDENTIALS_DIR)"
)
_MEANT_FOR_PIP = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}


def install_argv(
    *, requirements: Path, constraints: Path | None, target: Path, python: str, complete: bool
) -> list[str]:
    """Install wheels into a folder for that Python and for Linux on this processor; builds nothing.

    `complete` says that the requirements' own requirements are among them. All paths are absolute.
    Raises SetupFailed without uv.
    """
    try:
        uv = find_uv_bin()
    except FileNotFoundError as error:
        raise SetupFailed(f"uv is missing beside {sys.executable}; install it there with pip") from error
    return [
        uv,
        # Settings are read from the current folder upwards: none of a repository can lie at the root.
        *("--directory", "/"),
        *("--color", "never", "--no-progress", "--no-python-downloads"),
        *("pip", "install", "--only-binary", ":all:"),
        *(["--no-deps"] if complete else []),
        *(["--constraints", str(constraints)] if constraints else []),
        *("--python", sys.executable, "--python-version", python, "--python-platform", box_platform()),
        # The cache is this command's own and is removed afterwards; nothing is held twice.
        *("--link-mode", "hardlink"),
        *("--target", str(target), "--requirements", str(requirements)),
    ]


def box_platform() -> str:
    """The platform of boxes, in uv's words."""
    return f"{platform.machine()}-{_GLIBC}"


def install_env(environ: Mapping[str, str], *, cache: Path) -> dict[str, str]:
    """Of this machine's environment only what says how to reach its package indexes."""
    env = {name: value for name, value in environ.items() if _KEPT.fullmatch(name)}
    for name, uv_name in _MEANT_FOR_PIP.items():
        if name in environ:
            env.setdefault(uv_name, environ[name])
    env.setdefault("UV_HTTP_TIMEOUT", _HTTP_TIMEOUT_SECONDS)
    # A cache of its own: what is downloaded counts against the size limit, and nothing is shared.
    return {**env, "UV_CACHE_DIR": str(cache), "PATH": env.get("PATH", os.defpath)}
