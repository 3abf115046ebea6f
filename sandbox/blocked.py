"""Names the hosts that a command tried to reach, from what the site hook noted and what the command said."""

import ipaddress
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from sandbox.protocol import Output

_MOST = 20
_MOST_CANDIDATES = 200
"""Of each source, different ones: to find that a name is none takes up to a third of a millisecond."""
_LONGEST = 260
"""A host name has at most 253 characters, a port five."""
_NAME = r"[^\s'\"<>()/@,;]{1,255}"
_MESSAGES = re.compile(
    "|".join(
        (
            rf"Could not resolve host: (?P<curl>{_NAME})",  # curl, git over https
            rf"unable to resolve host address ['‘`](?P<wget>{_NAME})['’]",
            rf"Could not resolve hostname (?P<ssh>{_NAME}):",  # ssh, git over ssh
            rf"unable to look up (?P<git>{_NAME}) \(port",
            rf"Failed to resolve '(?P<urllib3>{_NAME})'",
            rf"host='(?P<pool>{_NAME})', port=(?P<pool_port>\d{{1,5}})",  # requests, pip
            rf"getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (?P<node>{_NAME})",
            rf"Temporary failure resolving '(?P<apt>{_NAME})'",
            rf"lookup (?P<go>{_NAME})(?: on {_NAME})?:",
        )
    )
)
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_PORT = re.compile(r"(?P<host>\[[0-9a-fA-F:.%]+\]|[^:\[\]]+):(?P<port>[0-9]{1,5})")


def blocked_hosts(noted: bytes, stderr: Output) -> tuple[str, ...]:
    """Up to 20 hosts, each `host` or `host:port`, each once; what is no plausible host is dropped.

    Looks at the first 200 different candidates of each source.

    Both sources are the command's own word: good for a diagnosis, no proof of anything.
    """
    found: dict[str, None] = {}
    for candidate in (*_first(_noted(noted)), *_first(_said(stderr.text))):
        host = _plausible(candidate)
        if host is not None:
            found.setdefault(host)
            if len(found) == _MOST:
                break
    return tuple(_without_repeats(found))


def _first(candidates: Iterable[str]) -> Iterator[str]:
    return islice(dict.fromkeys(candidates), _MOST_CANDIDATES)


def _noted(content: bytes) -> Iterator[str]:
    yield from content.decode(errors="replace").split("\n")


def _said(text: str) -> Iterator[str]:
    for match in _MESSAGES.finditer(text):
        if match["pool"]:
            yield f"{match['pool']}:{match['pool_port']}"
        else:
            yield match[str(match.lastgroup)].rstrip(".:")


def _without_repeats(found: dict[str, None]) -> Iterator[str]:
    """Without a bare host that is there with a port as well."""
    with_port = {host.rpartition(":")[0] for host in found if _PORT.fullmatch(host)}
    return (host for host in found if host not in with_port)


def _plausible(candidate: str) -> str | None:
    """The host in its usual form, or None for what is neither a host name nor an address."""
    if not 0 < len(candidate) <= _LONGEST:
        return None
    split = _PORT.fullmatch(candidate)
    if split is None:
        return _host(candidate)
    host, port = _host(split["host"]), int(split["port"])
    if host is None or not 0 < port < 65536:
        return None
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _host(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text.removeprefix("[").removesuffix("]")))
    except ValueError:
        return _host_name(text)


def _host_name(text: str) -> str | None:
    try:
        name = text.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return None
    labels = name.split(".")
    plausible = len(name) <= 253 and all(_LABEL.fullmatch(label) for label in labels)
    # A top-level domain is never all digits, so 1.2.3.999 is no host name either.
    return name if plausible and not labels[-1].isdigit() else None
