"""Too many processes, and processes that want to live on."""

from dataclasses import replace

from sandbox import LimitKind

from .attack import ENDLESS, NO_CGROUP, QUICK, Attack

_PROCESSES: frozenset[LimitKind | None] = frozenset({LimitKind.PROCESSES})
_WALL: frozenset[LimitKind | None] = frozenset({LimitKind.WALL})
_KILLED = frozenset({137})

ATTACKS = (
    Attack(
        name="fork-bomb-loud",
        program="while True: os.fork()",
        limits=ENDLESS,
        named=_PROCESSES,
    ),
    Attack(
        name="fork-bomb-that-hides-its-errors",
        beyond_ordinary=NO_CGROUP,
        program="""
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
        limits=ENDLESS,
        named=_PROCESSES,
        exit_codes=_KILLED,
    ),
    Attack(
        name="fork-bomb-that-ends-well",
        program="""
import signal, time
children = []
try:
    while True:
        child = os.fork()
        if child == 0:
            time.sleep(60)
        children.append(child)
except OSError:
    print("stopped at", len(children))
for child in children:
    os.kill(child, signal.SIGKILL)
""",
        named=frozenset({None, LimitKind.PROCESSES}),
        exit_codes=frozenset({0}),
        said=("stopped at",),
    ),
    Attack(
        name="shell-fork-bomb",
        beyond_ordinary=NO_CGROUP,
        shell=True,
        program="bomb() { bomb | bomb & }; bomb; sleep 60",
        limits=ENDLESS,
        named=_PROCESSES,
    ),
    Attack(
        name="shell-fork-bomb-in-silence",
        beyond_ordinary=NO_CGROUP,
        shell=True,
        program="exec 2>/dev/null; bomb() { bomb | bomb & }; bomb; while :; do :; done",
        limits=ENDLESS,
        named=_PROCESSES,
        exit_codes=_KILLED,
    ),
    Attack(
        name="thread-bomb",
        program="""
import threading
while True:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
""",
        limits=replace(ENDLESS, memory_bytes=2 * QUICK.memory_bytes),
        named=_PROCESSES,
        exit_codes=frozenset({1}),
    ),
    Attack(
        name="zombies",
        program="""
import time
made = 0
try:
    while True:
        if os.fork() == 0:
            os._exit(0)
        made += 1
except OSError:
    print("zombies refused after", made)
""",
        named=frozenset({None, LimitKind.PROCESSES}),
        exit_codes=frozenset({0}),
        said=("zombies refused after",),
    ),
    Attack(
        name="orphans-that-end-at-once",
        shell=True,
        program="for i in 1 2 3 4 5 6 7 8 9; do (sleep 0.01 &) ; done; sleep 0.1; echo through",
        said=("through",),
        exit_codes=frozenset({0}),
    ),
    Attack(
        name="daemon-by-double-fork-and-setsid",
        program="""
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        time.sleep(600)
    os._exit(0)
os.wait()
""",
        exit_codes=frozenset({0}),
    ),
    Attack(
        name="daemon-that-keeps-the-output-open",
        shell=True,
        program='setsid bash -c "trap : TERM HUP INT; sleep 600; sleep 600; echo $1" & echo gone',
        limits=ENDLESS,
        named=frozenset({None, LimitKind.WALL}),
        said=("gone",),
    ),
    Attack(
        name="daemon-under-a-false-name",
        program="""
import time
libc.prctl(15, b"x) R 1 1 1 (", 0, 0, 0)
if os.fork() == 0:
    os.setsid()
    os.execv(sys.executable, ["[kworker/0:1] \\n) R 1", "-c", "import time; time.sleep(600)", TOKEN])
time.sleep(0.2)
print("spawned")
""",
        said=("spawned",),
        exit_codes=frozenset({0}),
    ),
    Attack(
        name="sleeps-for-ever",
        program="import time\ntime.sleep(600)",
        limits=ENDLESS,
        named=_WALL,
        exit_codes=_KILLED,
    ),
    Attack(
        name="ignores-every-signal",
        program="""
import signal, time
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    time.sleep(600)
""",
        limits=ENDLESS,
        named=_WALL,
        exit_codes=_KILLED,
    ),
    Attack(
        name="busy-loop",
        program="while True: pass",
        limits=ENDLESS,
        named=_WALL,
        exit_codes=_KILLED,
    ),
    Attack(
        name="open-files-exhausted",
        program="""
held = []
try:
    while True:
        held.append(open("/dev/null"))
except OSError as error:
    print(errno.errorcode[error.errno], len(held) < 100_000)
""",
        said=("EMFILE True",),
        exit_codes=frozenset({0}),
    ),
    Attack(
        name="open-files-exhausted-in-many-processes",
        program="""
import time
children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        held = []
        try:
            while True:
                held += os.pipe()
        except OSError:
            time.sleep(0.5)
            os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
""",
        exit_codes=frozenset({0}),
    ),
    Attack(
        name="limits-raised-by-itself",
        program="""
import resource
def raised(kind):
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError as error:
        raise PermissionError(errno.EPERM, str(error)) from error
for name in ("AS", "NPROC", "FSIZE", "NOFILE", "CORE"):
    attempt(name, raised, getattr(resource, "RLIMIT_" + name))
""",
        denied=frozenset({"EPERM"}),
    ),
    Attack(
        name="priorities-raised-by-itself",
        program="""
def better_memory_score():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
attempt("nice", os.setpriority, os.PRIO_PROCESS, 0, -20)
attempt("real-time", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(50))
attempt("io-real-time", syscall, "ioprio_set", 1, 0, 1 << 13)
attempt("oom-score", better_memory_score)
""",
        denied=frozenset({"EPERM", "EACCES", "EROFS"}),
    ),
)
