"""Replacing what decides whether a test passed."""

from .forgery import NOTHING, Forgery

FORGERIES = (
    Forgery(
        "finds-classes",
        """
def run():
    for cls in object.__subclasses__():
        if cls.__module__.startswith('sandbox.report') and 'Reporter' in cls.__name__:
            cls._tell = None
            def fake(self, item, call):
                call.excinfo = None
                outcome = yield
                outcome.get_result().outcome = 'passed'
            cls.pytest_runtest_makereport = fake
""",
    ),
    Forgery(
        "patches-the-plugins-globals",
        """
def run():
    reporter = type(reporters()[0])
    space = reporter.pytest_runtest_makereport.__globals__
    space['_message'] = lambda report: setattr(report, 'outcome', 'passed')
    space['__builtins__']['float'] = lambda x: 0.0
""",
    ),
    Forgery(
        "patches-makereport",
        """
import _pytest.reports, _pytest.runner
def run():
    original = _pytest.reports.TestReport.from_item_and_call.__func__
    def fake(cls, item, call):
        call.excinfo = None
        return original(cls, item, call)
    _pytest.reports.TestReport.from_item_and_call = classmethod(fake)
""",
    ),
    Forgery(
        "patches-from-call-at-import",
        """
import _pytest.runner
original = _pytest.runner.CallInfo.from_call.__func__
def fake(cls, func, when, reraise=None):
    def quiet():
        try: return func()
        except BaseException: return None
    return original(cls, quiet, when, reraise)
_pytest.runner.CallInfo.from_call = classmethod(fake)
def run(): pass
""",
    ),
    Forgery(
        "patches-code-objects",
        """
import _pytest.python
def fake(pyfuncitem): return True
_pytest.python.pytest_pyfunc_call.__code__ = fake.__code__
def run(): pass
""",
    ),
    Forgery(
        "replaces-assertion-error",
        """
import builtins
class Quiet(pytest.skip.Exception): pass
def run(): builtins.AssertionError = Quiet
""",
    ),
    Forgery(
        "shadows-isinstance-in-the-runner",
        """
import _pytest.runner
def run(): _pytest.runner.isinstance = lambda *a: False
""",
    ),
    Forgery(
        "swallows-by-contextlib",
        """
import contextlib
def run():
    original = contextlib._GeneratorContextManager.__exit__
    def swallow(self, *exc):
        original(self, *exc) if exc[0] is None else None
        return True
    contextlib._GeneratorContextManager.__exit__ = swallow
""",
    ),
    Forgery(
        "removes-hooks",
        """
def run(): pass
""",
        {
            "tests/test_a.py": """
import evil
def test_a():
    session, item = evil.session_and_item()
    session.config.hook.pytest_pyfunc_call._hookimpls[:] = []
    session.config.hook.pytest_runtest_call._hookimpls[:] = []
""",
        },
    ),
    Forgery(
        "patches-raises",
        """
import _pytest.raises
_pytest.raises.RaisesExc.__exit__ = lambda self, *exc: True
def run(): pass
""",
        {
            "tests/test_victim.py": (
                "import pytest, evil\ndef test_victim():\n    with pytest.raises(ValueError):\n        pass\n"
            ),
        },
    ),
    Forgery(
        "patches-unittest",
        "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\ndef run(): pass\n",
        {
            "tests/test_victim.py": (
                "import unittest, evil\nclass TestVictim(unittest.TestCase):\n"
                "    def test_victim(self): self.assertEqual(1, 2)\n"
            ),
        },
    ),
    Forgery(
        "replaces-pytest-in-sys-modules",
        """
fake = types.ModuleType('pytest')
fake.__dict__.update(vars(pytest))
class raises:
    def __init__(self, *a): pass
    def __enter__(self): return self
    def __exit__(self, *a): return True
fake.raises = raises
sys.modules['pytest'] = fake
def run(): pass
""",
        {
            "tests/test_victim.py": (
                "import evil\nimport pytest\ndef test_victim():\n"
                "    with pytest.raises(ValueError):\n        pass\n"
            ),
        },
    ),
    Forgery(
        "replaces-the-hook-callers",
        NOTHING,
        {
            "tests/test_a.py": """
import evil
def test_a():
    session, item = evil.session_and_item()
    session.items[-1].ihook.__dict__['pytest_runtest_call'] = lambda item: None
""",
        },
    ),
    Forgery(
        "replaces-the-executor-of-hooks",
        """
def run():
    session, item = session_and_item()
    manager = session.config.pluginmanager
    original = manager._inner_hookexec
    def execute(name, methods, kwargs, firstresult):
        result = original(name, methods, kwargs, firstresult)
        if name == 'pytest_runtest_makereport': result.outcome, result.longrepr = 'passed', None
        if 'call' in kwargs: kwargs['call'].excinfo = None
        return result
    manager._inner_hookexec = execute
""",
    ),
)
