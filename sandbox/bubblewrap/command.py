"""The bubblewrap command line of one run: what the command sees, as whom, and under which rlimits."""

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sandbox.bubblewrap.toolchain import TOOLCHAIN_DIR, Toolchain
from sandbox.protocol import PACKAGES_DIR, WORK_DIR, Limits, Packages
from sandbox.seccomp import seccomp_programs
from sandbox.surroundings import BOX_ENV, SHM_BYTES, TMP_BYTES, prlimit_argv

HOLDER_PROCESSES = 2
"""Processes of bubblewrap itself that live beside the command."""
SETPRIV = "/usr/bin/setpriv"
_NPROC_SLACK = 16
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxLayout:
    """The folders on this machine that make up one box."""

    root: Path

    @property
    def work(self) -> Path:
        """Bound read-write at /work."""
        return self.root / "work"

    @property
    def etc(self) -> Path:
        """The few files of /etc."""
        return self.root / "etc"

    @property
    def toolchain(self) -> Path:
        """The skeleton of the Python environment."""
        return self.root / "toolchain"

    @property
    def seccomp(self) -> Path:
        """The filter program for system calls; not there on a machine type for which there is none."""
        return self.root / "seccomp.bpf"

    def write(self, toolchain: Toolchain, uid: int) -> None:
        """Create everything; the work folder's owner is left to the caller."""
        program = seccomp_programs().get(platform.machine())
        if program is not None:
            self.seccomp.write_bytes(program)
        self.work.mkdir(mode=0o755)
        self.etc.mkdir()
        (self.etc / "passwd").write_text(f"root:x:0:0::/:/bin/false\nsandbox:x:{uid}:{uid}::/tmp:/bin/sh\n")
        (self.etc / "group").write_text(f"root:x:0:\nsandbox:x:{uid}:\n")
        (self.etc / "hosts").write_text("127.0.0.1 localhost sandbox\n::1 localhost\n")
        toolchain.lay_out(self.toolchain)
        for folder in (self.etc, self.toolchain):
            _open_to_all(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class BwrapCommand:
    """Builds argument lists for one box."""

    bwrap: Path
    layout: BoxLayout
    toolchain: Toolchain
    uid: int
    as_root: bool
    packages: Packages | None = None

    def argv(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        limits: Limits,
        status_fd: int,
        seccomp_fd: int | None,
        counted: bool,
    ) -> list[str]:
        """The whole command line; `counted` says that a cgroup counts memory and processes too."""
        return [
            str(self.bwrap),
            *("--json-status-fd", str(status_fd)),
            *(("--seccomp", str(seccomp_fd)) if seccomp_fd is not None else ()),
            *self._isolation(),
            *self._filesystem(limits),
            *_environment({**BOX_ENV, "PATH": f"{TOOLCHAIN_DIR}/bin:{BOX_ENV['PATH']}", **env}),
            *("--chdir", str(WORK_DIR / cwd)),
            "--",
            *self._drop_to_user(),
            # Where a cgroup counts processes, it must be the one that refuses: only it tells us that it did.
            *prlimit_argv(limits, extra_processes=_NPROC_SLACK if counted else 0),
            *command,
        ]

    def _isolation(self) -> Iterator[str]:
        yield from ("--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL")
        if self.as_root:
            # Without a user namespace: setpriv needs these three to change to the box's own user.
            yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
            yield "--unshare-cgroup-try"
            for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
                yield from ("--cap-add", capability)
        else:
            yield from ("--unshare-all", "--unshare-user", "--disable-userns")
            yield from ("--uid", str(self.uid), "--gid", str(self.uid))

    def _filesystem(self, limits: Limits) -> Iterator[str]:
        yield from ("--ro-bind", "/usr", "/usr")
        yield from _system_folders()
        yield from ("--proc", "/proc", "--dev", "/dev")
        yield from _tmpfs("/dev/shm", SHM_BYTES)  # noqa: S108 - the box's own
        yield from ("--remount-ro", "/dev")
        yield from _tmpfs("/tmp", min(TMP_BYTES, limits.disk_bytes))  # noqa: S108 - the box's own
        # bubblewrap makes missing parents as closed as what is bound below them; ours are open to all.
        yield from _open_parents([PurePosixPath("/etc/passwd")])
        yield from _open_parents(target for _, target in self.toolchain.binds(self.layout.toolchain))
        for file in sorted(self.layout.etc.iterdir()):
            yield from ("--ro-bind", str(file), f"/etc/{file.name}")
        for shared in ("/etc/ld.so.cache", "/etc/alternatives"):
            yield from ("--ro-bind-try", shared, shared)
        for source, target in self.toolchain.binds(self.layout.toolchain):
            yield from ("--ro-bind", str(source), str(target))
        if self.packages is not None:
            yield from _open_parents([PACKAGES_DIR])
            yield from ("--ro-bind", str(self.packages.folder), str(PACKAGES_DIR))
        for folder in self.toolchain.hidden():
            yield from ("--tmpfs", str(folder), "--remount-ro", str(folder))
        yield from ("--bind", str(self.layout.work), str(WORK_DIR))
        yield from ("--remount-ro", "/")

    def _drop_to_user(self) -> Iterator[str]:
        if self.as_root:
            yield from (SETPRIV, f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups")
            yield from (
                "--bounding-set=-all",
                "--inh-caps=-all",
                "--ambient-caps=-all",
                "--no-new-privs",
                "--",
            )


def _open_to_all(folder: Path) -> None:
    """Undo our umask: the box's own user must be able to read these."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))


def _open_parents(paths: Iterable[PurePosixPath]) -> Iterator[str]:
    parents = {parent for path in paths for parent in path.parents if parent != PurePosixPath("/")}
    for folder in sorted(parents):
        if not folder.is_relative_to(TOOLCHAIN_DIR) and not folder.is_relative_to("/usr"):
            yield from ("--perms", "0755", "--dir", str(folder))


def _system_folders() -> Iterator[str]:
    for name in _SYSTEM_FOLDERS:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)


def _tmpfs(path: str, size: int) -> Iterator[str]:
    yield from ("--perms", "1777", "--size", str(size), "--tmpfs", path)


def _environment(env: Mapping[str, str]) -> Iterator[str]:
    yield "--clearenv"
    for name, value in env.items():
        yield from ("--setenv", name, value)
