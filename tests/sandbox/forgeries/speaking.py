"""Speaking in the name of pytest, or as a part of it."""

from .forgery import NOTHING, Forgery

FORGERIES = (
    Forgery(
        "tells-the-judge-itself",
        """
def run():
    session, item = session_and_item()
    tell = reporters()[0]._tell
    event = [c.cell_contents for c in tell.__closure__ if isinstance(c.cell_contents, str)][0]
    for record in (("phase", id(item), "call", "passed", False, 0.1, ""), ("end", id(item)), ("finish", 0)):
        try: sys.audit(event, *record)
        except RuntimeError: pass
    os._exit(0)
""",
    ),
    Forgery(
        "calls-the-plugin",
        """
def run():
    session, item = session_and_item()
    tell = reporters()[0]._tell
    tell("phase", id(item), "call", "passed", False, 0.1, "")
    tell("end", id(item))
    tell("finish", 0)
    os._exit(0)
""",
    ),
    Forgery(
        "asks-for-trust",
        """
def run():
    reporters()[0]._tell("trust")
    reporters()[0]._tell("phase", id(session_and_item()[1]), "call", "passed", False, 0.1, "")
    os._exit(0)
""",
    ),
    Forgery(
        "calls-the-hooks",
        """
def run():
    session, item = session_and_item()
    from _pytest.reports import TestReport
    from _pytest.runner import CallInfo
    call = CallInfo.from_call(lambda: None, 'call')
    item.ihook.pytest_runtest_makereport(item=item, call=call)
    item.ihook.pytest_sessionfinish(session=session, exitstatus=0)
    os._exit(0)
""",
    ),
    Forgery(
        "leaves-a-finalizer",
        """
from functools import partial
def run():
    session, item = session_and_item()
    from _pytest.runner import CallInfo
    call = CallInfo.from_call(lambda: None, 'call')
    item.addfinalizer(partial(item.ihook.pytest_runtest_makereport, item=item, call=call))
""",
    ),
    Forgery(
        "leaves-a-finalizer-for-the-end",
        """
from functools import partial
def run():
    session, item = session_and_item()
    session.addfinalizer(partial(item.ihook.pytest_runtest_protocol, item=item, nextitem=None))
""",
    ),
    Forgery(
        "lets-a-thread-speak",
        """
import threading
from functools import partial
def run():
    session, item = session_and_item()
    from _pytest.runner import CallInfo
    call = CallInfo.from_call(lambda: None, 'call')
    thread = threading.Thread(target=partial(item.ihook.pytest_runtest_makereport, item=item, call=call))
    thread.start(); thread.join()
    os._exit(0)
""",
    ),
    Forgery(
        "registers-a-plugin",
        NOTHING,
        {
            "tests/test_a.py": """
import evil, pytest
class Plugin:
    @pytest.hookimpl(tryfirst=True, hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        report.outcome, report.longrepr = 'passed', None
        call.excinfo = None
    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        return True
def test_a():
    session, item = evil.session_and_item()
    session.config.pluginmanager.register(Plugin())
""",
        },
    ),
    Forgery(
        "conftest-turns-failures-into-passes",
        NOTHING,
        {
            "tests/conftest.py": """
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = 'passed', None
""",
        },
    ),
    Forgery(
        "conftest-hides-the-exception",
        NOTHING,
        {
            "tests/conftest.py": """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    call.excinfo = None
""",
        },
    ),
    Forgery(
        "conftest-swallows",
        NOTHING,
        {
            "tests/conftest.py": """
import pytest
@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item):
    outcome = yield
    outcome.force_result(None)
@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_pyfunc_call(pyfuncitem):
    outcome = yield
    outcome.force_result(True)
""",
        },
    ),
    Forgery(
        "calls-itself-an-installed-plugin",
        NOTHING,
        {
            "evil-1.dist-info/METADATA": "Name: evil\nVersion: 1\n",
            "evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = evil_plugin\n",
            "evil_plugin.py": """
import _pytest.runner
original = _pytest.runner.CallInfo.from_call.__func__
def fake(cls, func, when, reraise=None):
    def quiet():
        try: return func()
        except BaseException: return None
    return original(cls, quiet, when, reraise)
_pytest.runner.CallInfo.from_call = classmethod(fake)
""",
        },
    ),
)
