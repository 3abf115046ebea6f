"""Test suites that do unusual things for good reasons, and pass."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class HonestProgram:
    """Files by path; all their tests pass or are skipped."""

    name: str
    files: Mapping[str, str]
    options: tuple[str, ...] = ()


def _one(name: str, code: str, **more: str) -> HonestProgram:
    files = {
        "tests/test_a.py": code,
        **{path.replace("__", "/") + ".py": text for path, text in more.items()},
    }
    return HonestProgram(name, files)


HONEST_PROGRAMS = (
    _one(
        "monkeypatches-builtins",
        """
import builtins, io, os, time
def test_open(monkeypatch):
    monkeypatch.setattr(builtins, "open", lambda *a, **k: io.StringIO("x"))
    monkeypatch.setattr(builtins, "print", lambda *a: None)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    assert open("nothing").read() == "x"
def test_import(monkeypatch):
    def refuse(name, *rest):
        raise ImportError(name)
    monkeypatch.setattr(builtins, "__import__", refuse)
    try:
        import json.tool
    except ImportError as error:
        assert "json" in str(error)
""",
    ),
    _one(
        "changes-pytest-for-a-moment",
        """
import _pytest.runner, builtins
def test_a(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "len", lambda thing: 3)
        patch.setattr(_pytest.runner.TestReport, "from_item_and_call", None)
        patch.delattr(_pytest.runner, "call_and_report")
        assert len([]) == 3
    assert len([]) == 0
def test_b(monkeypatch):
    monkeypatch.delattr(builtins, "open")
def test_c(): assert open
""",
    ),
    _one(
        "conftest-wraps-every-hook",
        """
import pytest
async def test_async(): assert True
def test_sync(value): assert value == 1
""",
        tests__conftest="""
import asyncio, inspect, pytest
@pytest.fixture
def value(): return 1
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        function = pyfuncitem.obj
        pyfuncitem.obj = lambda **given: asyncio.run(function(**given))
    yield
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    yield
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    yield
@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    setattr(item, "report_" + outcome.get_result().when, outcome.get_result())
def pytest_collection_modifyitems(items): items.reverse()
def pytest_runtest_logreport(report): assert report.nodeid
def pytest_sessionfinish(session, exitstatus): assert exitstatus == 0
""",
    ),
    _one(
        "inspects-its-memory",
        """
import gc, sys, traceback, inspect, weakref
class Thing: pass
def test_what_is_denied_is_an_ordinary_error():
    try: open("/proc/self/mem", "rb")
    except (RuntimeError, OSError) as error: traceback.format_exception(error)
    gc.unfreeze()
    try: gc.get_objects()
    except RuntimeError as error: traceback.format_exception(error)
    gc.freeze()
def test_leak():
    before = sum(isinstance(value, Thing) for value in gc.get_objects())
    things = [Thing() for _ in range(3)]
    assert sum(isinstance(value, Thing) for value in gc.get_objects()) == before + 3
    assert gc.get_referrers(things[0])
    assert gc.get_referents(things)
    gc.collect()
def test_frames():
    assert inspect.currentframe().f_code.co_name == "test_frames"
    assert sys._current_frames()
    try: 1 / 0
    except ZeroDivisionError as error:
        assert traceback.extract_tb(error.__traceback__)[-1].name == "test_frames"
""",
    ),
    _one(
        "uses-ctypes",
        """
import ctypes, pytest
def test_libc():
    buffer = ctypes.create_string_buffer(b"text")
    assert ctypes.string_at(ctypes.addressof(buffer)) == b"text"
    assert ctypes.c_int.from_address(ctypes.addressof(ctypes.c_int(7))) is not None
    assert ctypes.CDLL(None).abs(-3) == 3
def test_numpy():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(3, dtype="int32")
    assert array.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))[2] == 2
""",
    ),
    _one(
        "unittest",
        """
import unittest
from unittest import mock
class TestThing(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.shared = 1
    def setUp(self): self.own = 2
    def test_equal(self): self.assertEqual(self.shared + self.own, 3)
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number): self.assertLess(number, 3)
    @unittest.skip("not today")
    def test_skipped(self): self.fail()
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @mock.patch("os.getcwd", return_value="/")
    def test_mock(self, getcwd): self.assertEqual(__import__("os").getcwd(), "/")
    def tearDown(self): self.own = None
class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_async(self): self.assertTrue(True)
""",
    ),
    _one(
        "subprocesses-forks-and-nested-pytest",
        """
import multiprocessing, os, subprocess, sys
def test_nested(tmp_path):
    (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0\\n")
    command = [sys.executable, "-m", "pytest", "-q", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "1 failed" in done.stdout
def square(number): return number * number
def test_pool():
    for method in ("fork", "spawn"):
        process = multiprocessing.get_context(method).Process(target=square, args=(2,))
        process.start(); process.join()
        assert process.exitcode == 0
def test_fork():
    child = os.fork()
    if child == 0: os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
""",
    ),
    _one(
        "threads-and-signals",
        """
import signal, sys, threading, time, asyncio
def test_threads():
    done = []
    threads = [threading.Thread(target=done.append, args=(n,)) for n in range(5)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert sorted(done) == [0, 1, 2, 3, 4]
def test_daemon():
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
def test_alarm():
    rung = []
    signal.signal(signal.SIGALRM, lambda *a: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    time.sleep(0.05)
    assert rung
def test_alarm_goes_on():
    assert signal.getsignal(signal.SIGALRM).__name__ == "<lambda>"
    signal.setitimer(signal.ITIMER_REAL, 0)
def test_loop():
    asyncio.run(asyncio.sleep(0))
""",
    ),
    HonestProgram(
        "doctests",
        {
            "tests/test_a.py": '"""\n>>> 1 + 1\n2\n"""\ndef test_a(): pass\n',
            "tests/notes.txt": ">>> 2 + 2\n4\n",
        },
        ("--doctest-modules", "--doctest-glob=*.txt"),
    ),
    _one(
        "fixtures-marks-and-parameters",
        """
import pytest
@pytest.fixture(scope="module", params=["x", "y"])
def letter(request):
    yield request.param
@pytest.fixture(autouse=True)
def name(request): request.node.user_properties.append(("a", 1))
@pytest.mark.parametrize("number", [1, 2], ids=["one::x", "two [y]"])
def test_each(letter, number): assert letter in "xy" and number
@pytest.mark.xfail(reason="known", strict=True)
def test_known(): assert 0
def test_marked_late(request):
    request.applymarker(pytest.mark.xfail)
    assert 0
def test_raises():
    with pytest.raises(ValueError, match="x"): raise ValueError("x")
    with pytest.warns(UserWarning): __import__("warnings").warn("w")
    assert 0.1 + 0.2 == pytest.approx(0.3)
class TestGroup:
    @pytest.fixture
    def made(self): return self
    def test_self(self, made): assert made is self
    @staticmethod
    def test_static(): pass
    @classmethod
    def test_class(cls): assert cls is TestGroup
def test_dynamic(pytestconfig, tmp_path, capsys, caplog, monkeypatch):
    print("x")
    assert capsys.readouterr().out == "x\\n"
""",
    ),
    HonestProgram(
        "hypothesis",
        {
            "tests/test_a.py": """
import pytest
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, strategies as st
@given(st.integers())
def test_a(number): assert number == number
def test_b(): pass
"""
        },
    ),
)
