"""pytest in a real box: every outcome is told, and code that cheats does not pass."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from sandbox import FakeBackend, Limits, Sandbox, TestOutcome, TestReport, run_pytest

from .conftest import LIMITS

REPORTS = "import os, glob\nfound = glob.glob('/work/.issuewright/*/*.jsonl')\n"


async def report_of(
    box: Sandbox, files: Mapping[str, str], *, wall_seconds: float = 20, **options: object
) -> TestReport:
    await box.put_files({path: text.encode() for path, text in files.items()})
    limits = replace(LIMITS, wall_seconds=wall_seconds)
    return await run_pytest(box, ["tests"], limits=limits, **options)  # type: ignore[arg-type]


def statuses(report: TestReport) -> dict[str, str]:
    return {outcome.node_id.removeprefix("tests/"): outcome.status for outcome in report.outcomes}


def only(report: TestReport) -> TestOutcome:
    (outcome,) = report.outcomes
    return outcome


async def test_each_kind_of_outcome(box: Sandbox) -> None:
    code = """
import pytest
from calc import add
def test_good(): assert add(1, 2) == 3
def test_bad():
    total = add(1, 2)
    assert total == 4
def test_raises(): add(None, 1)
@pytest.fixture
def broken(): raise RuntimeError("setup went wrong")
def test_setup(broken): pass
@pytest.fixture
def leaky():
    yield
    raise RuntimeError("teardown went wrong")
def test_teardown(leaky): pass
@pytest.mark.skip(reason="not today")
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.parametrize("x", [1, 2])
def test_each(x): assert x == 1
"""
    report = await report_of(box, {"calc.py": "def add(a, b): return a + b\n", "tests/test_calc.py": code})
    assert (report.complete, report.passed, report.diagnosis) == (True, False, "")
    assert statuses(report) == {
        "test_calc.py::test_good": "passed",
        "test_calc.py::test_bad": "failed",
        "test_calc.py::test_raises": "failed",
        "test_calc.py::test_setup": "error",
        "test_calc.py::test_teardown": "error",
        "test_calc.py::test_skipped": "skipped",
        "test_calc.py::test_expected": "skipped",
        "test_calc.py::test_each[1]": "passed",
        "test_calc.py::test_each[2]": "failed",
    }
    messages = {outcome.node_id.partition("::")[2]: outcome.message for outcome in report.outcomes}
    assert "assert 3 == 4" in messages["test_bad"]
    assert "tests/test_calc.py:7" in messages["test_bad"]
    assert "TypeError" in messages["test_raises"]
    assert "setup went wrong" in messages["test_setup"]
    assert "not today" in messages["test_skipped"]
    assert messages["test_good"] == ""
    assert all(len(message) <= 2000 for message in messages.values())


async def test_all_good_passes(box: Sandbox) -> None:
    report = await report_of(box, {"tests/test_a.py": "def test_a(): pass\n"})
    assert (report.complete, report.passed, report.exec.exit_code) == (True, True, 0)


async def test_no_test_is_complete_and_does_not_pass(box: Sandbox) -> None:
    report = await report_of(box, {"tests/test_a.py": "x = 1\n"})
    assert (report.complete, report.passed, report.outcomes) == (True, False, ())


async def test_a_file_that_cannot_be_imported_is_an_error_and_the_others_run(box: Sandbox) -> None:
    report = await report_of(
        box,
        {
            "tests/test_a.py": "import no_such_module\n",
            "tests/test_b.py": "def test_b(): pass\n",
            "tests/test_c.py": "def (",
        },
    )
    assert statuses(report) == {"test_a.py": "error", "test_b.py::test_b": "passed", "test_c.py": "error"}
    assert "no_such_module" in report.outcomes[0].message
    assert report.complete
    assert not report.passed


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import os\nos._exit(0)\ndef test_a(): pass\n", id="os-exit"),
        pytest.param("import sys\nsys.exit(0)\ndef test_a(): pass\n", id="sys-exit"),
        pytest.param("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", id="killed"),
        pytest.param(
            REPORTS + "for f in found: os.remove(f)\ndef test_a(): pass\n",
            id="deletes-report",
        ),
        pytest.param(
            REPORTS + "for f in found: os.truncate(f, 0)\ndef test_a(): pass\n",
            id="truncates-report",
        ),
    ],
)
async def test_code_that_stops_pytest_while_it_is_imported_does_not_pass(box: Sandbox, code: str) -> None:
    report = await report_of(box, {"tests/test_a.py": code})
    assert (report.complete, report.passed) == (False, False)
    assert "passed" not in statuses(report).values()
    assert report.diagnosis


async def test_a_test_that_ends_the_process_is_an_error_and_the_rest_is_not_run(box: Sandbox) -> None:
    code = "import os\ndef test_1(): pass\ndef test_2(): os._exit(0)\ndef test_3(): pass\n"
    report = await report_of(box, {"tests/test_a.py": code})
    assert statuses(report) == {
        "test_a.py::test_1": "passed",
        "test_a.py::test_2": "error",
        "test_a.py::test_3": "not_run",
    }
    assert not report.complete
    assert "exit code 0" in report.diagnosis


async def test_the_orders_are_not_to_be_found_by_looking_around(box: Sandbox) -> None:
    code = """
import os, sys
def test_looks():
    assert sys.__stdin__.read() == ""
    environ = open("/proc/self/cmdline").read() + repr(dict(os.environ))
    assert "issuewright" not in environ
    assert not any(".issuewright" in path for path in sys.path)
    assert ".issuewright" not in os.environ.get("PYTHONPATH", "")
"""
    report = await report_of(box, {"tests/test_a.py": code}, options=["-s"])
    assert only(report).status == "passed", only(report).message


async def test_a_forked_child_does_not_report_in_the_name_of_its_parent(box: Sandbox) -> None:
    code = """
import os
def test_forks():
    if os.fork() == 0: return
    os.wait()
    assert False
"""
    report = await report_of(box, {"tests/test_a.py": code})
    assert only(report).status == "failed"
    assert report.complete


async def test_the_wall_limit_names_the_test_in_progress(box: Sandbox) -> None:
    code = "import time\ndef test_1(): pass\ndef test_2(): time.sleep(60)\ndef test_3(): pass\n"
    report = await report_of(box, {"tests/test_a.py": code}, wall_seconds=6)
    assert statuses(report) == {
        "test_a.py::test_1": "passed",
        "test_a.py::test_2": "timeout",
        "test_a.py::test_3": "not_run",
    }
    assert not report.complete


async def test_an_endless_import_is_a_timeout_of_its_file(box: Sandbox) -> None:
    report = await report_of(box, {"tests/test_a.py": "while True: pass\n"}, wall_seconds=4)
    assert statuses(report) == {"test_a.py": "timeout"}


async def test_another_limit_is_named_in_the_message(box: Sandbox) -> None:
    report = await report_of(
        box, {"tests/test_a.py": "def test_flood():\n    while True: print('x' * 99)\n"}, options=["-s"]
    )
    assert only(report).status == "error"
    assert "output limit" in only(report).message


async def test_the_repositorys_own_configuration_applies(box: Sandbox) -> None:
    config = "[tool.pytest.ini_options]\naddopts = '--strict-markers'\npython_files = ['check_*.py']\n"
    files = {
        "pyproject.toml": config,
        "tests/check_a.py": "def test_a(): pass\n",
        "tests/test_b.py": "def test_b(): assert False\n",
    }
    assert statuses(await report_of(box, files)) == {"check_a.py::test_a": "passed"}


async def test_a_configuration_that_pytest_refuses_is_diagnosed(box: Sandbox) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = --no-such-option\n",
        "tests/test_a.py": "def test_a(): pass\n",
    }
    report = await report_of(box, files)
    assert not report.complete
    assert "--no-such-option" in report.diagnosis
    assert (await report_of(box, files, options=["-o", "addopts="])).passed


async def test_source_folders_are_importable_here_and_in_subprocesses(box: Sandbox) -> None:
    code = """
import subprocess, sys, pkg
def test_a():
    assert pkg.x == 1
    subprocess.run([sys.executable, "-c", "import pkg"], check=True)
"""
    report = await report_of(box, {"src/pkg.py": "x = 1\n", "tests/test_a.py": code}, pythonpath=["src"])
    assert report.passed, report


async def test_a_module_named_like_one_of_the_standard_library_does_not_stop_pytest(box: Sandbox) -> None:
    files = {
        "hmac.py": "raise RuntimeError\n",
        "json.py": "raise RuntimeError\n",
        "tests/test_a.py": "def test_a(): pass\n",
    }
    assert (await report_of(box, files)).passed


async def test_one_test_can_be_named(box: Sandbox) -> None:
    await box.put_files({"tests/test_a.py": b"def test_1(): pass\ndef test_2(): assert False\n"})
    report = await run_pytest(box, ["tests/test_a.py::test_1"])
    assert statuses(report) == {"test_a.py::test_1": "passed"}


MODULES = {
    f"tests/test_{name}.py": "import pytest\n"
    + "".join(f"def test_{n}(): pass\n" for n in range(4))
    + "class TestOne:\n    def test_x(self): pass\n    def test_y(self): pass\n"
    for name in "abcd"
}


async def test_the_order_is_random_by_its_seed_and_keeps_files_and_classes_together(box: Sandbox) -> None:
    plain = await report_of(box, MODULES)
    first, again, other = [await report_of(box, MODULES, random_order_seed=seed) for seed in (1, 1, 2)]
    orders = [[outcome.node_id for outcome in report.outcomes] for report in (plain, first, again, other)]
    assert orders[1] == orders[2]
    assert len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    for order in orders:
        for depth in (1, 2):
            groups = [node.split("::")[:depth] for node in order if depth == 1 or "TestOne" in node]
            changes = sum(one != next_one for one, next_one in pairwise(groups))
            assert changes == 3
    assert (plain.random_order_seed, first.random_order_seed, other.random_order_seed) == (None, 1, 2)
    assert all(report.passed for report in (plain, first, other))


async def test_a_random_order_does_not_set_up_a_costly_fixture_twice(box: Sandbox) -> None:
    code = """
import pytest
made = []
@pytest.fixture(scope="module", params=[1, 2])
def costly(request):
    made.append(request.param)
    assert len(made) == len(set(made))
def test_a(costly): pass
def test_b(costly): pass
def test_c(): pass
def test_d(costly): pass
"""
    assert (await report_of(box, {"tests/test_a.py": code}, random_order_seed=3)).passed


async def test_lines_and_branches_that_were_run_are_told(box: Sandbox) -> None:
    files = {
        "src/calc.py": "def sign(x):\n    if x < 0:\n        return -1\n    return 1\n",
        "src/unused.py": "x = 1\n",
        "tests/test_calc.py": "import calc\ndef test_sign(): assert calc.sign(5) == 1\n",
    }
    report = await report_of(box, files, pythonpath=["src"], coverage_of=["src"])
    if report.coverage is None:
        pytest.skip(report.diagnosis)
    assert report.passed
    calc = report.coverage["src/calc.py"]
    assert (calc.executed, calc.missing, calc.missing_branches) == ((1, 2, 4), (3,), ((2, 3),))
    assert 0 < calc.percent < 100
    assert report.coverage["src/unused.py"].percent == 0
    assert set(report.coverage) == {"src/calc.py", "src/unused.py"}
    one = await report_of(box, files, pythonpath=["src"], coverage_of=["src/unused.py"])
    assert one.coverage is not None
    assert set(one.coverage) == {"src/unused.py"}


async def test_without_figures_the_diagnosis_says_so(box: Sandbox) -> None:
    files = {"a.py": "", "tests/test_a.py": "import os\ndef test_a(): os._exit(0)\n"}
    report = await report_of(box, files, coverage_of=["a.py"])
    assert report.coverage is None
    assert "no coverage figures" in report.diagnosis


async def test_the_phases_are_timed_apart(box: Sandbox) -> None:
    code = """
import pytest, time
@pytest.fixture
def slow():
    time.sleep(0.2)
    yield
    time.sleep(0.3)
def test_a(slow): time.sleep(0.1)
"""
    outcome = only(await report_of(box, {"tests/test_a.py": code}))
    assert outcome.setup_seconds >= 0.2
    assert outcome.call_seconds >= 0.1
    assert outcome.teardown_seconds >= 0.3
    assert outcome.seconds == pytest.approx(
        outcome.setup_seconds + outcome.call_seconds + outcome.teardown_seconds
    )


async def test_a_test_that_is_tried_again_by_its_configuration_is_told_why_not(box: Sandbox) -> None:
    conftest = """
from _pytest.runner import runtestprotocol
def pytest_runtest_protocol(item, nextitem):
    runtestprotocol(item, nextitem=nextitem)
    return True
"""
    report = await report_of(box, {"tests/conftest.py": conftest, "tests/test_a.py": "def test_a(): pass\n"})
    assert not report.passed
    assert "tests/conftest.py:4 called pytest's phase hook" in report.diagnosis


async def test_a_failing_part_fails_its_test(box: Sandbox) -> None:
    code = """
import unittest
class TestParts(unittest.TestCase):
    def test_a(self):
        for n in range(3):
            with self.subTest(n=n): self.assertNotEqual(n, 1)
    def test_b(self): pass
"""
    report = await report_of(box, {"tests/test_a.py": code})
    assert statuses(report) == {
        "test_a.py::TestParts::test_a": "failed",
        "test_a.py::TestParts::test_b": "passed",
    }


@pytest.mark.parametrize("path", ["../tests", "/tests", "-p", "--help"])
async def test_a_path_cannot_leave_the_work_folder_or_be_an_option(path: str) -> None:
    box = await FakeBackend().create(Limits())
    if path.startswith("-"):
        await run_pytest(box, [path])
        assert box.calls[0].argv[-2:] == ("--", path)
    else:
        with pytest.raises(ValueError, match="work folder"):
            await run_pytest(box, [path])
        with pytest.raises(ValueError, match="work folder"):
            await run_pytest(box, ["tests"], coverage_of=[path])
        assert box.calls == []
