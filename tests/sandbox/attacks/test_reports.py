"""Test files that want to look as if they had passed; the deeper forgeries have a module of their own."""

from collections.abc import Mapping

import pytest

from sandbox import Sandbox, run_pytest

_FAILING = "\ndef test_that_fails():\n    assert False\n"
_FAKE = """
import sys
print("============================= 1 passed in 0.01s ==============================")
sys.__stdout__.write('{"kind": "finish", "status": 0}\\n'); sys.__stdout__.flush()
sys.__stderr__.write("1 passed\\n")
"""
_FILES: Mapping[str, Mapping[str, str]] = {
    "prints-a-fake-report": {"test_x.py": _FAKE + _FAILING},
    "leaves-with-success": {"test_x.py": "import os\ndef test_ok(): os._exit(0)\n" + _FAILING},
    "leaves-with-success-on-import": {"test_x.py": "import os\nos._exit(0)\n" + _FAILING},
    "conftest-leaves": {"conftest.py": "import sys\nsys.exit(0)\n", "test_x.py": _FAILING},
    "conftest-raises-exit": {"conftest.py": "import pytest\npytest.exit('done', 0)\n", "test_x.py": _FAILING},
    "test-raises-exit": {"test_x.py": "import pytest\ndef test_ok(): pytest.exit('done', 0)\n" + _FAILING},
    "leaves-in-a-trap-at-exit": {
        "test_x.py": "import atexit, os\natexit.register(os._exit, 0)\n" + _FAILING,
    },
    "kills-its-parent": {
        "test_x.py": "import os, signal\ndef test_ok(): os.kill(os.getppid(), signal.SIGKILL)\n" + _FAILING,
    },
    "kills-everyone": {
        "test_x.py": "import os, signal\ndef test_ok(): os.kill(-1, signal.SIGKILL)\n" + _FAILING,
    },
    "deletes-every-file": {
        "test_x.py": """
import os, shutil
def test_ok():
    for name in os.listdir("/work"):
        shutil.rmtree("/work/" + name, ignore_errors=True)
"""
        + _FAILING,
    },
    "closes-every-descriptor": {"test_x.py": "import os\nos.closerange(0, 256)\n" + _FAILING},
    "skips-everything": {
        "conftest.py": "def pytest_collection_modifyitems(items): items.clear()\n",
        "test_x.py": _FAILING,
    },
    "configuration-ignores-the-tests": {
        "pytest.ini": "[pytest]\npython_files = nothing_*.py\naddopts = --exitfirst -p no:python\n",
        "test_x.py": _FAILING,
    },
    "no-tests-at-all": {"test_x.py": "print('1 passed')\n"},
    "forks-and-both-report": {"test_x.py": "import os\ndef test_ok(): os.fork()\n" + _FAILING},
    "floods": {"test_x.py": "import os\nwhile True: os.write(1, b'1 passed\\n' * 999)\n" + _FAILING},
}


@pytest.mark.parametrize("name", _FILES)
async def test_it_is_not_seen_as_passed(name: str, hostile_box: Sandbox) -> None:
    await hostile_box.put_files({path: text.encode() for path, text in _FILES[name].items()})
    report = await run_pytest(hostile_box, ["test_x.py"])
    assert not report.passed
    wrong = [outcome for outcome in report.outcomes if outcome.status != "passed"]
    assert wrong or report.diagnosis or not report.outcomes


async def test_an_honest_run_is_seen_as_passed(hostile_box: Sandbox) -> None:
    await hostile_box.put_files({"test_x.py": b"def test_ok(): pass\n"})
    assert (await run_pytest(hostile_box, ["test_x.py"])).passed
