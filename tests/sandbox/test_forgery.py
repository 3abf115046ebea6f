"""No code in the box can make a test that fails be reported as passed; honest programs are left alone."""

from dataclasses import replace

import pytest

from sandbox import Sandbox, run_pytest

from .conftest import LIMITS
from .forgeries import FORGERIES, Forgery
from .honest_programs import HONEST_PROGRAMS, HonestProgram


@pytest.mark.parametrize("forgery", [pytest.param(each, id=each.name) for each in FORGERIES])
async def test_a_forgery_is_not_believed(box: Sandbox, forgery: Forgery) -> None:
    await box.put_files({path: text.encode() for path, text in forgery.all_files().items()})
    report = await run_pytest(box, ["tests"], limits=replace(LIMITS, wall_seconds=20))
    victims = [outcome for outcome in report.outcomes if "test_victim" in outcome.node_id]
    assert not report.passed, report
    assert all(outcome.status != "passed" for outcome in victims), report
    assert (await box.run(["true"])).ok


@pytest.mark.parametrize("program", [pytest.param(each, id=each.name) for each in HONEST_PROGRAMS])
async def test_an_honest_program_is_left_alone(box: Sandbox, program: HonestProgram) -> None:
    await box.put_files({path: text.encode() for path, text in program.files.items()})
    report = await run_pytest(box, ["tests"], options=program.options)
    assert report.diagnosis == ""
    assert {outcome.status for outcome in report.outcomes} <= {"passed", "skipped"}, report
    assert report.passed, report
