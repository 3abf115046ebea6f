"""Runs one command inside a container for the Docker backend; sent there as source text, needs only Python.

Arguments: in how many pieces the settings come as JSON, the pieces, the command. Standard input is the
command's own. Standard output carries frames, each a kind byte, the payload's length in four bytes, and the
payload: `1` and `2` for the command's two streams, capped here at the source, `B` for its begin, `E` for how
it ended, `R` for a command that was never started.
Whatever the command leaves running is killed before its end is told. A command that kills this process
loses the report, not its limits: the other side watches the clock and the amount of output too.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself takes as long to import as all the others
    from typing import Any, NoReturn

_CHUNK = 65536
_NOTES_BYTES = 16384
_SET_DUMPABLE, _SET_SECCOMP, _FILTER = 4, 22, 2
_UNIFIED = "/sys/fs/cgroup/"
_SPLIT = {"memory": "/sys/fs/cgroup/memory/memory.", "cpu": "/sys/fs/cgroup/cpuacct/cpuacct."}


def main() -> None:
    """Run the command that the arguments describe, and tell how it went."""
    if os.getppid() != 0:
        # What an engine starts in a container has its parent outside. Elsewhere the killing would be murder.
        sys.exit("this runs only where a container engine starts it")
    pieces = int(sys.argv[1])
    settings: dict[str, Any] = json.loads("".join(sys.argv[2 : 2 + pieces]))
    libc = ctypes.CDLL(None, use_errno=True)
    # From here on the command, although of the same user, cannot open this process's streams and memory.
    libc.prctl(_SET_DUMPABLE, 0)
    _open_again(settings["disks"][0])
    folder = settings["cwd"]
    if os.path.realpath(folder) != folder or not (os.path.isdir(folder) and os.access(folder, os.X_OK)):
        _send(b"R", b"cwd")
        return
    _restrict(libc, settings["seccomp"])
    _tidy(libc, settings["short_lived"])
    cpu_before, peak_before = _cpu_seconds(), _peak_memory()
    end = _Command(sys.argv[2 + pieces :], settings).run()
    cpu, peak = _cpu_seconds(), _peak_memory()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    end["cpu"] = cpu - cpu_before if cpu else children.ru_utime + children.ru_stime
    # The group's peak is that of the container's whole life: it tells of this command only if it rose.
    end["peak"] = peak if peak > peak_before else children.ru_maxrss * 1024
    end["out_of_memory"] = _out_of_memory()
    end["disk_full"] = any(_is_full(folder) for folder in settings["disks"])
    end["notes"] = _taken(settings["notes"])
    _send(b"E", json.dumps(end).encode())


class _Command:
    """The command while it runs."""

    def __init__(self, argv: list[str], settings: dict[str, Any]) -> None:
        self._settings = settings
        self._room = {b"1": settings["output_bytes"] + 1, b"2": settings["output_bytes"] + 1}
        self._limit: str | None = None
        self._wake, wake_end = os.pipe()
        os.set_blocking(wake_end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_end)
        self._streams, writers = _pipes()
        self._pid = os.fork()
        if self._pid == 0:
            _become(argv, settings, writers)
        for writer in writers:
            os.close(writer)
        _send(b"B", b"")

    def run(self) -> dict[str, Any]:
        started = time.monotonic()
        status = self._watch(started + self._settings["seconds"])
        seconds = time.monotonic() - started
        crowded = self._limit is not None and _own_tasks() >= self._settings["tasks"]
        _kill_all()
        if status is None:
            status = os.waitpid(self._pid, 0)[1]
        for stream, kind in list(self._streams.items()):
            while self._forward(stream, kind):
                pass
        return {"code": _shell_code(status), "limit": self._limit, "seconds": seconds, "crowded": crowded}

    def _watch(self, deadline: float) -> int | None:
        """The command's status once it ends by itself; None when a limit comes first."""
        poll = select.poll()
        for stream in (*self._streams, self._wake):
            poll.register(stream, select.POLLIN)
        while self._limit is None:
            left = deadline - time.monotonic()
            if left <= 0:
                self._limit = "wall"
                break
            for stream, _ in poll.poll(left * 1000 + 1):
                if stream == self._wake:
                    os.read(self._wake, _CHUNK)
                    pid, status = os.waitpid(self._pid, os.WNOHANG)
                    if pid:
                        return status
                elif not self._forward(stream, self._streams[stream]):
                    poll.unregister(stream)
        return None

    def _forward(self, stream: int, kind: bytes) -> bool:
        """Pass on what a stream has; False at its end or its cap."""
        chunk = os.read(stream, _CHUNK)[: self._room[kind]]
        self._room[kind] -= len(chunk)
        if chunk:
            _send(kind, chunk)
        if self._room[kind] == 0:
            self._limit = self._limit or "output"
        return bool(chunk) and self._room[kind] > 0


class _Program(ctypes.Structure):
    """`struct sock_fprog` of seccomp(2)."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _restrict(libc: ctypes.CDLL, programs: dict[str, str]) -> None:
    """Take system calls away from this process and all that it starts, beyond what the engine's filter does.

    `programs` are filters as hexadecimal digits by machine type. Raises OSError when the kernel refuses one.
    """
    program = bytes.fromhex(programs.get(os.uname().machine, ""))
    if program and libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(_Program(len(program) // 8, program))):
        raise OSError(ctypes.get_errno(), "the kernel refuses the filter for system calls")


def _open_again(folder: str) -> None:
    """An earlier command may have closed the work folder to everybody."""
    try:
        os.chmod(folder, 0o755)
    except OSError:
        pass  # it is not ours, so that no command could close it


def _tidy(libc: ctypes.CDLL, folders: list[str]) -> None:
    """Remove what an earlier command left outside the work folder: it could work on this one from there."""
    if any(os.listdir(folder) for folder in folders):
        # These two programs manage trees of any depth and size; the folders themselves stay.
        for argv in (["chmod", "-R", "u+rwX", *folders], ["find", *folders, "-mindepth", "1", "-delete"]):
            quietly = [(os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]
            os.waitpid(os.posix_spawnp(argv[0], argv, os.environ, file_actions=quietly), 0)
    for kind, remove in (("shm", libc.shmctl), ("msg", libc.msgctl)):
        for number in _system_v_ids(kind):
            remove(number, 0, None)
    for number in _system_v_ids("sem"):
        libc.semctl(number, 0, 0)


def _system_v_ids(kind: str) -> list[int]:
    try:
        with open(f"/proc/sysvipc/{kind}") as file:
            return [int(line.split()[1]) for line in file.readlines()[1:]]
    except OSError:
        return []


def _pipes() -> tuple[dict[int, bytes], tuple[int, int]]:
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    return {out_read: b"1", err_read: b"2"}, (out_write, err_write)


def _become(argv: list[str], settings: dict[str, Any], writers: tuple[int, int]) -> NoReturn:
    """Turn this fresh child into the command; never returns."""
    try:
        os.setsid()
        os.dup2(writers[0], 1)
        os.dup2(writers[1], 2)
        os.chdir(settings["cwd"])
        # Python ignores these two, and what is ignored stays ignored in the command.
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored, signal.SIG_DFL)
        for name, value in settings["rlimits"].items():
            resource.setrlimit(getattr(resource, name), (value, value))
        os.execvpe(argv[0], argv, settings["env"])
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)
    finally:
        os._exit(126)


def _send(kind: bytes, payload: bytes) -> None:
    frame = kind + len(payload).to_bytes(4, "big") + payload
    while frame:
        frame = frame[os.write(1, frame) :]


def _kill_all() -> None:
    """Kill every process of our user but this one; the container's own are another user's."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _shell_code(status: int) -> int:
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _own_tasks() -> int:
    """Processes and threads of our user; this one has made itself nobody's."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue
    return count


def _is_full(folder: str) -> bool:
    found = os.statvfs(folder)
    return found.f_bavail == 0 or (found.f_files > 0 and found.f_favail == 0)


def _cpu_seconds() -> float:
    return _field(_UNIFIED + "cpu.stat", "usage_usec") / 1e6 or _number(_SPLIT["cpu"] + "usage") / 1e9


def _peak_memory() -> int:
    return _number(_UNIFIED + "memory.peak") or _number(_SPLIT["memory"] + "max_usage_in_bytes")


def _out_of_memory() -> int:
    return _field(_UNIFIED + "memory.events", "oom_kill") or _field(
        _SPLIT["memory"] + "oom_control", "oom_kill"
    )


def _number(path: str) -> int:
    try:
        with open(path) as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def _field(path: str, name: str) -> int:
    try:
        with open(path) as file:
            return int(dict(line.split() for line in file)[name])
    except (OSError, ValueError, KeyError):
        return 0


def _taken(path: str) -> str:
    """The start of a file that the command may have left; the file is gone afterwards."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            os.unlink(path)
            return os.read(descriptor, _NOTES_BYTES).decode(errors="replace")
        finally:
            os.close(descriptor)
    except OSError:
        return ""


if __name__ == "__main__":
    main()
