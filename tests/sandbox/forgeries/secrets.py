"""Looking for the key of the report."""

from .forgery import Forgery

FORGERIES = (
    Forgery(
        "seeks-the-key-in-attributes",
        """
def run():
    seen, todo = set(), [p for p in reporters()]
    while todo:
        value = todo.pop()
        if id(value) in seen or len(seen) > 20000: continue
        seen.add(id(value))
        if isinstance(value, bytes) and len(value) == 32: sign(value)
        todo += list(getattr(value, '__dict__', {}).values())
        todo += [c.cell_contents for c in getattr(value, '__closure__', None) or ()]
        for name in ('__self__', '__func__', '__globals__', 'args', 'func'):
            if hasattr(value, name): todo.append(getattr(value, name))
        if isinstance(value, dict): todo += list(value.values())
        if isinstance(value, (list, tuple, set)): todo += list(value)
def sign(key):
    os._exit(0)
""",
    ),
    Forgery(
        "asks-the-garbage-collector",
        """
def run():
    gc.unfreeze()
    for value in gc.get_objects():
        if isinstance(value, types.FunctionType) and value.__code__.co_filename.startswith('<report_'):
            for cell in value.__closure__ or ():
                if type(cell.cell_contents) is bytes: os._exit(0)
""",
    ),
    Forgery(
        "follows-references",
        """
def run():
    gc.unfreeze()
    gc.get_referrers(os.getpid)
    os._exit(0)
""",
    ),
    Forgery(
        "steals-frames-by-signal",
        """
import signal
found = []
def look(number, frame):
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if type(value) is types.SimpleNamespace: found.append(value)
        frame = frame.f_back
def run():
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    tell = reporters()[0]._tell
    for _ in range(2000):
        sys.audit('open', 'x', 'r', 0)
        tell('ran', 0)
        if found: os._exit(0)
    signal.setitimer(signal.ITIMER_REAL, 0)
""",
    ),
    Forgery(
        "steals-frames-by-exception",
        """
def run():
    tell = reporters()[0]._tell
    event = [c.cell_contents for c in tell.__closure__ if isinstance(c.cell_contents, str)][0]
    try: sys.audit(event, 'finish', 0)
    except RuntimeError as error:
        trace = error.__traceback__
        while trace is not None:
            for value in trace.tb_frame.f_locals.values():
                if callable(value) and 'emit' in repr(value): os._exit(0)
            trace = trace.tb_next
""",
    ),
    Forgery(
        "hands-over-a-string-with-code",
        """
class Trap(str):
    def __hash__(self): return self.look()
    def __eq__(self, other): return self.look()
    def look(self):
        frame = sys._getframe()
        while frame is not None:
            if 'state' in frame.f_locals and hasattr(frame.f_locals['state'], 'emit'): os._exit(0)
            frame = frame.f_back
        return 0
def run():
    tell = reporters()[0]._tell
    tell(Trap('phase'))
    tell('ran', Trap('x'))
    sys.audit('object.__setattr__', Trap('x'), Trap('__code__'), None)
""",
    ),
    Forgery(
        "adds-an-audit-hook",
        """
def run():
    def hook(name, args):
        frame = sys._getframe()
        while frame is not None:
            if 'state' in frame.f_locals and hasattr(frame.f_locals['state'], 'emit'): os._exit(0)
            frame = frame.f_back
    sys.addaudithook(hook)
    reporters()[0]._tell('ran', 0)
""",
    ),
    Forgery(
        "traces-the-hook",
        """
def run():
    def look(frame, event, arg):
        if 'state' in frame.f_locals and hasattr(frame.f_locals['state'], 'emit'): os._exit(0)
        return look
    sys.settrace(look); sys.setprofile(look)
    reporters()[0]._tell('ran', 0)
    sys.settrace(None); sys.setprofile(None)
""",
    ),
    Forgery(
        "reads-its-own-memory",
        """
import re
def run():
    memory = open('/proc/self/mem', 'rb', 0)
    os._exit(0)
""",
    ),
    Forgery(
        "reads-its-memory-by-a-link",
        """
def run():
    os.symlink('/proc/self/mem', '/work/innocent')
    open('/work/innocent', 'rb', 0)
    os._exit(0)
""",
    ),
    Forgery(
        "reads-its-orders-again",
        """
def run():
    for fd in (*range(64), '/dev/stdin', '/proc/self/fd/0'):
        try:
            if isinstance(fd, str): fd = os.open(fd, os.O_RDONLY)
            os.lseek(fd, 0, 0)
            if b'"key"' in os.read(fd, 1 << 20): forge()
        except OSError: pass
def forge():
    os._exit(0)
""",
    ),
    Forgery(
        "lets-a-child-read-its-memory",
        """
import subprocess
def run():
    code = "import os; open(f'/proc/{os.getppid()}/mem', 'rb'); print('open')"
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    if 'open' in done.stdout: raise SystemError('memory was open: ' + done.stdout)
""",
    ),
    Forgery(
        "deletes-itself-inside-the-judge",
        """
class Bomb:
    def __del__(self):
        frame = sys._getframe()
        while frame is not None:
            if 'state' in frame.f_locals and hasattr(frame.f_locals['state'], 'emit'): os._exit(0)
            frame = frame.f_back
    @pytest.hookimpl
    def pytest_runtest_setup(self, item): pass
def run(): pass
""",
        {
            "tests/test_a.py": """
import evil
def test_a():
    session, item = evil.session_and_item()
    evil.bomb = evil.Bomb()
    session.config.pluginmanager.register(evil.bomb)
def test_b():
    session, item = evil.session_and_item()
    session.config.pluginmanager.unregister(evil.bomb)
    del evil.bomb
def test_c(): pass
""",
        },
    ),
    Forgery(
        "answers-look-ups-with-its-own-code",
        """
import _pytest.runner
class Key(str):
    __hash__ = str.__hash__
    def __eq__(self, other):
        frame = sys._getframe()
        while frame is not None:
            if 'state' in frame.f_locals and hasattr(frame.f_locals['state'], 'emit'): os._exit(0)
            frame = frame.f_back
        return str.__eq__(self, other)
def run():
    space = vars(_pytest.runner)
    space[Key('TestReport')] = space.pop('TestReport')
    sys.modules[Key('_pytest.runner')] = sys.modules.pop('_pytest.runner')
""",
    ),
)
