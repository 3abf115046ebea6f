"""Installed as `_issuewright_site` in every box and started by each Python there; needs nothing of ours.

It lets the packages of a repository win over the base's own, and notes which hosts a program tries to reach.
Both serve honest programs: one that wants to can undo either. Whatever fails here, the program goes on.
"""

# Started with every Python: pathlib and contextlib cost more than all that is done here.
# ruff: noqa: PTH100, PTH102, PTH112, PTH120, SIM105, S110, BLE001

import os
import site
import sys

_PACKAGES = "/opt/packages"
_NOTES = "/work/.issuewright/blocked-hosts"
_MOST_HOSTS = 50
_LONGEST_NOTE = 200
_MOST_BYTES = _MOST_HOSTS * _LONGEST_NOTE
# O_NONBLOCK: a named pipe in the place of the file must not stop the program.
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_INTERNET = (2, 10)  # AF_INET and AF_INET6; the module socket is not imported for two numbers
_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_SENDINGS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOCAL = frozenset({"", "localhost", "ip6-localhost", "localhost.localdomain", "0.0.0.0", "::", "::1"})  # noqa: S104


def activate(*, packages: str = _PACKAGES, notes: str = _NOTES) -> None:
    """Put the packages before the base's own and start to note hosts; raises nothing."""
    try:
        _put_first(packages)
    except Exception:
        pass
    try:
        sys.addaudithook(_HostNotes(notes))
    except Exception:
        pass


def _put_first(folder: str) -> None:
    """Make the folder a site folder, with what its `.pth` files add, before the one that holds this file."""
    if not os.path.isdir(folder):
        return
    own = os.path.dirname(os.path.abspath(__file__))
    place = sys.path.index(own) if own in sys.path else len(sys.path)
    sys.path.insert(place, folder)
    before = set(sys.path)
    site.addsitedir(folder)
    added = [path for path in sys.path if path not in before]
    if added:
        sys.path[:] = [path for path in sys.path if path in before]
        place = sys.path.index(folder) + 1
        sys.path[place:place] = added


class _HostNotes:
    """An audit hook that appends each new host to a file, one a line."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: set[str] = set()

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if event not in _LOOKUPS and event not in _SENDINGS:
            return
        try:
            note = _note_of(event, args)
            if note is not None and note not in self._seen and len(self._seen) < _MOST_HOSTS:
                self._seen.add(note)
                _append(self._path, note)
        except Exception:
            pass


def _note_of(event: str, args: tuple[object, ...]) -> str | None:
    """The line for one event, or None for what stays in the box."""
    address: object = args
    if event in _SENDINGS:
        if getattr(args[0], "family", None) not in _INTERNET:
            return None
        address = args[1]
    if not isinstance(address, tuple) or not address:
        return None
    host = address[0].decode("latin-1") if isinstance(address[0], bytes) else address[0]
    if not isinstance(host, str) or _is_local(host):
        return None
    port = address[1] if len(address) > 1 else None
    return _line(host, port if isinstance(port, int) and port > 0 else None)


def _is_local(host: str) -> bool:
    name = host.lower().removeprefix("::ffff:")
    return name in _LOCAL or name.startswith("127.") or name == os.uname().nodename.lower()


def _line(host: str, port: int | None) -> str:
    """`host` or `host:port`, an IPv6 address in brackets, without control characters or lone surrogates."""
    safe = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in host)
    if port is None:
        return safe[:_LONGEST_NOTE]
    named = f"[{safe}]" if ":" in safe else safe
    return f"{named}:{port}"[:_LONGEST_NOTE]


def _append(path: str, note: str) -> None:
    try:
        descriptor = os.open(path, _APPEND, 0o644)
    except FileNotFoundError:
        os.mkdir(os.path.dirname(path), 0o755)
        descriptor = os.open(path, _APPEND, 0o644)
    try:
        if os.fstat(descriptor).st_size < _MOST_BYTES:
            os.write(descriptor, note.encode() + b"\n")
    finally:
        os.close(descriptor)
