"""Talks to a git server. The token lives in git's environment only, and only for the server's own URL."""

import asyncio
import base64
import binascii
import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from bot.git.process import Git, GitResult, error_text, git_environment, startable
from bot.git.remote_errors import remote_error
from bot.github.errors import Unavailable
from bot.github.types import PushAccess
from pipelines.errors import RefusalError

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_OPTIONS = (
    *("-c", "credential.helper="),
    *("-c", "http.followRedirects=false"),
    *("-c", "http.sslVerify=true"),
    *("-c", "http.lowSpeedLimit=1"),
    *("-c", "http.lowSpeedTime=60"),
    *("-c", "protocol.allow=never"),
    *("-c", "protocol.https.allow=always"),
    *("-c", "gc.autoDetach=false"),
)


class Rejection(NamedTuple):
    """Why the server did not take a push."""

    reason: str
    """As git's porcelain gives it, such as `[rejected] (fetch first)`."""
    message: str
    """All that git and the server said."""


@dataclass(frozen=True)
class Remote:
    """One repository on a git server, with the credentials of this moment."""

    access: PushAccess
    ca_bundle: Path | None = None
    seconds: float = 600
    """Longest time for one exchange."""

    def __post_init__(self) -> None:
        check_url(self.access.url)

    async def refs(self, git: Git, *patterns: str, lock: int) -> dict[str, str]:
        """Full names and commits of what fits one of the patterns, which are matched against a name's end."""
        result = await self._run(git, "ls-remote", "--quiet", "--refs", *self._url, *patterns, lock=lock)
        self._check(result, "read branches of")
        lines = result.stdout.decode(errors="surrogateescape").splitlines()
        return {name: commit for commit, name in (line.split("\t", 1) for line in lines)}

    async def fetch(self, git: Git, commit: str, ref: str, *, depth: int, lock: int) -> None:
        """Store a commit with so much of its history, whole contents included, and let `ref` name it."""
        options = ("--quiet", f"--depth={depth}", "--no-tags", "--no-write-fetch-head", "--no-filter")
        source = (*self._url, f"+{commit}:{ref}")
        result = await self._run(git, "fetch", *options, "--no-recurse-submodules", *source, lock=lock)
        self._check(result, "fetch from")

    async def push(self, git: Git, commit: str, branch: str, *, lock: int) -> Rejection | None:
        """Let the branch stand at the commit; None when it does. Never forced."""
        options = ("--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--no-force")
        source = ("--recurse-submodules=no", *self._url, f"{commit}:refs/heads/{branch}")
        result = await self._run(git, "push", *options, *source, lock=lock)
        rejected = re.search(rb"^!\t[^\t]*\t(.*)$", result.stdout, re.MULTILINE)
        if rejected:
            return Rejection(rejected[1].decode(errors="replace"), self.redacted(result.message))
        self._check(result, "push to")
        return None

    def redacted(self, text: str) -> str:
        """The text without what the server must be shown."""
        for secret in self._secrets():
            text = text.replace(secret, "***")
        return text

    @property
    def _url(self) -> tuple[str, str]:
        return "--", self.access.url

    def _check(self, result: GitResult, operation: str) -> None:
        if result.exit_code != 0:
            raise remote_error(operation, self.access.url, self.redacted(result.message))

    async def _run(self, git: Git, *args: str, lock: int) -> GitResult:
        """Run to the end, at most `seconds`; the command and all that it started end with the task.

        Should this process die instead, they hold the lock for as long as they live.
        """
        with startable():
            process = await asyncio.create_subprocess_exec(
                *git.argv(*self._options(), *args),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=git_environment(self._environment()),
                start_new_session=True,
                pass_fds=(lock,),
            )
        try:
            async with asyncio.timeout(self.seconds):
                stdout, stderr = await process.communicate()
        except TimeoutError as error:
            raise Unavailable(
                f"git {args[0]} with {self.access.url} did not end within {self.seconds:g} s; "
                "check the network and the server, then run again"
            ) from error
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        return GitResult(int(process.returncode or 0), stdout, error_text(stderr))

    def _options(self) -> tuple[str, ...]:
        plain = ("-c", "protocol.http.allow=always") if self.access.url.startswith("http:") else ()
        trusted = ("-c", f"http.sslCAInfo={self.ca_bundle.absolute()}") if self.ca_bundle else ()
        return (*_OPTIONS, *plain, *trusted)

    def _environment(self) -> Mapping[str, str]:
        """Git's configuration that no command line and no file may hold; an empty value forgets others'."""
        first = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
        settings = {"GIT_CONFIG_COUNT": str(first + 2), "GIT_ASKPASS": ""}
        for number, value in enumerate(("", f"Authorization: {self.access.authorization}"), first):
            settings[f"GIT_CONFIG_KEY_{number}"] = f"http.{self.access.url}.extraHeader"
            settings[f"GIT_CONFIG_VALUE_{number}"] = value
        return settings

    def _secrets(self) -> tuple[str, ...]:
        """The header's value, its credentials, and the token in them."""
        value = self.access.authorization
        credentials = value.rpartition(" ")[2]
        try:
            token = base64.b64decode(credentials, validate=True).decode().rpartition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            token = ""
        return tuple(secret for secret in (value, credentials, token) if secret)


def check_url(url: str) -> None:
    """Raise RefusalError unless this is an https URL without credentials, or http to this machine."""
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not (parts.scheme == "https" or is_local) or not parts.hostname or not url.isprintable() or " " in url:
        raise RefusalError(
            f"git's URL must be https://HOST/OWNER/NAME.git, not one with scheme {parts.scheme!r} to "
            f"{parts.hostname!r}: check the server's address in the settings"
        )
    if "@" in parts.netloc or parts.query or parts.fragment or not parts.path.strip("/"):
        raise RefusalError(
            f"git's URL to {parts.hostname!r} must have a path and no user, password, query or fragment"
        )
