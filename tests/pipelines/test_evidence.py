from pipelines.candidate import Outcome, Status, TestCase, Verdict
from pipelines.evidence import Row, committed_problems, compare_repository, coverage_of, sort_rows


def row(
    name: str, trust: str, *, base: Status = "error", stub: Status = "failed", head: Status = "passed"
) -> Row:
    case = TestCase.model_validate(
        {"name": name, "trust": trust, "body": ("assert f()",), "names": ("f",), "title": ""}
    )
    return Row(case=case, base=base, stub=stub, head=head)


def verdict(*, complete: bool = True, diagnosis: str = "", **statuses: Status) -> Verdict:
    outcomes = {name: Outcome(status=status, seconds=0, message="why") for name, status in statuses.items()}
    return Verdict(outcomes=outcomes, complete=complete, diagnosis=diagnosis)


def test_a_given_test_is_kept_whatever_it_does() -> None:
    rows = [row("a", "given", head="failed"), row("b", "given", base="passed")]
    assert sort_rows(rows) == (tuple(rows), (), ())


def test_a_written_test_must_fail_without_the_code_and_pass_with_it() -> None:
    good = row("good", "agreed")
    disputed = row("disputed", "agreed", head="failed")
    on_base = row("on_base", "guessed", base="passed")
    on_stub = row("on_stub", "guessed", stub="passed")
    assert sort_rows([good, disputed, on_base, on_stub]) == ((good,), (disputed,), (on_base, on_stub))


def test_a_suite_is_worse_as_soon_as_one_test_is_lost() -> None:
    before = verdict(a="passed", b="passed", c="failed")
    assert compare_repository(before, verdict(a="passed", b="passed", c="passed")).state == "same"
    assert compare_repository(before, verdict(a="passed", b="failed", c="failed")).broken == ("b",)
    assert compare_repository(before, verdict(a="passed")).broken == ("b",)
    assert compare_repository(before, verdict(a="passed", b="skipped")).state == "worse"


def test_a_suite_that_was_cut_off_is_never_called_the_same() -> None:
    before = verdict(complete=False, diagnosis="the wall limit ended it", a="passed")
    compared = compare_repository(before, verdict(a="passed", b="passed"))
    assert (compared.state, compared.passed_before, compared.passed_after) == ("cut off", 1, 1)
    assert "wall limit" in compared.diagnosis


def test_what_a_cut_off_suite_did_not_reach_is_not_called_broken_but_what_failed_is() -> None:
    before = verdict(a="passed", b="passed")
    unreached = compare_repository(before, verdict(complete=False, a="passed", b="not_run"))
    assert (unreached.state, unreached.passed_after) == ("cut off", 1)
    assert compare_repository(before, verdict(complete=False, a="failed")).broken == ("a",)


def test_the_committed_file_must_do_what_its_rows_say() -> None:
    rows = [row("test_a", "given"), row("test_b", "given", head="failed")]
    file = "tests/test_f.py"
    seen = Verdict(
        outcomes={
            f"{file}::test_a": Outcome(status="passed", seconds=0),
            f"{file}::test_b": Outcome(status="failed", seconds=0),
            "tests/test_other.py::test_a": Outcome(status="failed", seconds=0),
        },
        complete=True,
    )
    assert committed_problems(seen, file, rows) == ()
    extra = {**seen.outcomes, f"{file}::test_imported": Outcome(status="error", seconds=0, message="fixture")}
    (problem,) = committed_problems(seen.model_copy(update={"outcomes": extra}), file, rows)
    assert problem == "`test_imported` is error: fixture"
    failing = {**seen.outcomes, f"{file}::test_a": Outcome(status="failed", seconds=0, message="E  boom")}
    (problem,) = committed_problems(seen.model_copy(update={"outcomes": failing}), file, rows)
    assert "boom" in problem


def test_coverage_lists_the_tests_that_name_a_criterion() -> None:
    named = row("test_a", "agreed")
    named = named.model_copy(update={"case": named.case.model_copy(update={"criteria": ("C2",)})})
    assert coverage_of(["C1", "C2"], [named, row("test_b", "given")]) == {"C1": (), "C2": ("test_a",)}
