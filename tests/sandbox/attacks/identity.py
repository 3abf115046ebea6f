"""Becoming someone else, and signals to whoever watches."""

from sandbox import LimitKind

from .attack import ENDLESS, NOT_PERMITTED, Attack

_WALL: frozenset[LimitKind | None] = frozenset({LimitKind.WALL})
_WALL_OR_NONE: frozenset[LimitKind | None] = frozenset({LimitKind.WALL, None})

ATTACKS = (
    Attack(
        name="becomes-root",
        program="""
attempt("uid", os.setuid, 0)
attempt("gid", os.setgid, 0)
attempt("effective", os.seteuid, 0)
attempt("all", os.setresuid, 0, 0, 0)
attempt("all-groups", os.setresgid, 0, 0, 0)
attempt("groups", os.setgroups, [0])
attempt("groups-by-number", syscall, "setgroups", 1, ctypes.create_string_buffer(4))
attempt("other-user", os.setuid, 1)
""",
        denied=NOT_PERMITTED | {"EINVAL"},
    ),
    Attack(
        name="set-user-id-programs",
        shell=True,
        program=r"""
find / -xdev -perm /6000 -type f 2>/dev/null | head -n 20 | sed 's/^/found /'
su -c id root </dev/null; sudo -n id; pkexec id; newgrp root </dev/null; mount -t tmpfs none /mnt
passwd -d root; chfn -f x root; ping -c 1 127.0.0.1
python3 -c 'import os; print("uid", 0 in os.getresuid() + os.getresgid() + tuple(os.getgroups()))'
echo through
""",
        said=("uid False", "through"),
        unsaid=("uid=0",),
    ),
    Attack(
        name="own-set-user-id-file",
        program="""
import shutil, stat, subprocess
shutil.copy("/bin/sh", "mine")
os.chmod("mine", 0o6755)
attempt("owner", os.chown, "mine", 0, 0)
said = subprocess.run(["./mine", "-c", "id -u; id -ru"], capture_output=True, text=True).stdout.split()
print("users", set(said) == {str(os.getuid())})
""",
        denied=NOT_PERMITTED | {"EINVAL"},
        said=("users True",),
    ),
    Attack(
        name="capabilities",
        program="""
import re
with open("/proc/self/status") as file:
    status = file.read()
print("held", sorted(set(re.findall("Cap(?:Inh|Prm|Eff|Amb):\\\\s*(\\\\w+)", status))))
print("privileges", re.findall("NoNewPrivs:\\\\s*(\\\\d)", status))
print("filter", re.findall("Seccomp:\\\\s*(\\\\d)", status))
print("root", 0 in os.getresuid() + os.getresgid() + tuple(os.getgroups()))
""",
        said=("held ['0000000000000000']", "privileges ['1']", "filter ['2']", "root False"),
        exit_codes=frozenset({0}),
    ),
    Attack(
        name="kills-everyone",
        program="""
import signal, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
time.sleep(0.3)
os.kill(-1, signal.SIGKILL)
time.sleep(600)
""",
        limits=ENDLESS,
        named=_WALL_OR_NONE,
        exit_codes=frozenset({137}),
    ),
    Attack(
        name="kills-its-parent",
        program="""
import signal, time
time.sleep(0.3)
for number in (signal.SIGTERM, signal.SIGKILL):
    try:
        os.kill(os.getppid(), number)
    except OSError as error:
        print("refused", errno.errorcode[error.errno])
time.sleep(60)
""",
        limits=ENDLESS,
        named=_WALL_OR_NONE,
        exit_codes=frozenset({137, 143}),
    ),
    Attack(
        name="kills-its-group-and-session",
        program="import signal, time\nos.killpg(0, signal.SIGKILL)\ntime.sleep(60)",
        limits=ENDLESS,
        named=_WALL_OR_NONE,
        exit_codes=frozenset({137}),
    ),
    Attack(
        name="stops-everyone",
        program="""
import signal, time
if os.fork() == 0:
    time.sleep(60)
os.kill(-1, signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
""",
        limits=ENDLESS,
        named=_WALL,
        exit_codes=frozenset({137}),
    ),
    Attack(
        name="stops-its-parent",
        program="""
import signal
for pid in range(2, 400):
    if pid != os.getpid():
        try:
            os.kill(pid, signal.SIGSTOP)
        except OSError:
            pass
print("stopped the others", flush=True)
os._exit(0)
""",
        limits=ENDLESS,
        named=_WALL_OR_NONE,
    ),
    Attack(
        name="stops-itself",
        program="import signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        limits=ENDLESS,
        named=_WALL,
        exit_codes=frozenset({137}),
    ),
    Attack(
        name="kills-the-first-process",
        program="""
import signal, time
for number in signal.valid_signals():
    try:
        os.kill(1, number)
    except OSError:
        pass
time.sleep(0.3)
print("alive")
""",
        said=("alive",),
        exit_codes=frozenset({0}),
    ),
    Attack(
        name="ends-by-a-signal",
        program="import signal\nos.kill(os.getpid(), signal.SIGTERM)\nimport time\ntime.sleep(9)",
        exit_codes=frozenset({143}),
    ),
    Attack(
        name="pretends-that-its-time-was-over",
        program="os._exit(124)",
        exit_codes=frozenset({124}),
    ),
    Attack(
        name="pretends-that-it-was-killed",
        program="os._exit(137)",
        exit_codes=frozenset({137}),
    ),
)
