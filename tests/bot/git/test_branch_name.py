"""Names for the bot's branches, and rules that forbid them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.git.branch import check_branch_name
from bot.git.branch_name import branch_name, check_branch_rules, check_commit_rules
from bot.git.process import Git
from bot.github.types import BranchRule
from pipelines.errors import RefusalError
from tests.bot.git.remote_scratch import details


def _rule(
    operator: str, pattern: str, *, negate: bool = False, kind: str = "branch_name_pattern"
) -> BranchRule:
    parameters: dict[str, object] = {"operator": operator, "pattern": pattern, "negate": negate, "name": ""}
    return BranchRule(type=kind, parameters=parameters, source="Naming")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Add a slug module", "issuewright/12-add-a-slug-module"),
        ("Fix `<class 'ValueError'>` & \"quotes\"\n", "issuewright/12-fix-class-valueerror-quotes"),
        ("Grüße, Ünïcode", "issuewright/12-grusse-unicode"),
        ("日本語のタイトル", "issuewright/12"),
        ("🎉🎉", "issuewright/12"),
        ("", "issuewright/12"),
        ("-- // .. ~^:", "issuewright/12"),
    ],
)
def test_a_title_becomes_a_name(title: str, name: str) -> None:
    assert branch_name(title, number=12) == name


@pytest.mark.parametrize(
    ("template", "title", "name"),
    [
        ("bot/{slug}-{number}", "Add it", "bot/add-it-12"),
        ("bot/{slug}-{number}", "日本", "bot/12"),
        ("feature/AB#{number}_{slug}", "日本", "feature/AB#12"),
        ("テスト/{number}", "Add it", "テスト/12"),
    ],
)
def test_a_template_of_the_repository_is_followed(template: str, title: str, name: str) -> None:
    assert branch_name(title, number=12, template=template) == name


@pytest.mark.parametrize("template", ["{slug}", "x/{issue}", "{number.__class__}", "{number", ""])
def test_a_template_without_a_name_is_refused(template: str) -> None:
    with pytest.raises(RefusalError, match="gives no branch name"):
        branch_name("日本", number=12, template=template)


@given(st.text(), st.integers(min_value=1))
def test_every_title_gives_a_short_plain_name(title: str, number: int) -> None:
    name = branch_name(title, number=number)
    assert name.isascii()
    assert name.startswith(f"issuewright/{number}")
    assert len(name) <= 80
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789-/")
    assert not name.endswith(("-", "/"))


def test_git_takes_the_names() -> None:
    for title in ("Add it", "日本", "a.lock", "@{0}"):
        check_branch_name(Git(Path("/")), branch_name(title, number=1))


@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        (_rule("starts_with", "issuewright/"), True),
        (_rule("starts_with", "feature/"), False),
        (_rule("starts_with", "feature/", negate=True), True),
        (_rule("ends_with", "-x"), True),
        (_rule("ends_with", "-y"), False),
        (_rule("contains", "t/1"), True),
        (_rule("contains", "t/1", negate=True), False),
        (_rule("regex", r"^issuewright/\d+-[a-z]+$"), True),
        (_rule("regex", r"^(feature|fix)/"), False),
        (_rule("regex", r"^(feature|fix)/", negate=True), True),
        (_rule("regex", r"(?P<"), True),
        (_rule("glob_of_the_future", "feature/*"), True),
        (BranchRule(type="required_linear_history"), True),
        (BranchRule(type="non_fast_forward"), True),
        (BranchRule(type="deletion"), True),
        (BranchRule(type="a_rule_of_the_future"), True),
        (BranchRule(type="creation"), False),
        (BranchRule(type="update"), False),
        (BranchRule(type="required_signatures"), False),
    ],
)
def test_rules_of_the_repository(rule: BranchRule, fits: bool) -> None:
    if fits:
        assert branch_name("x", number=1, rules=[rule]) == "issuewright/1-x"
    else:
        with pytest.raises(RefusalError, match=f"`{rule.type}`"):
            branch_name("x", number=1, rules=[rule])


def test_a_refusal_names_branch_rule_ruleset_and_what_to_do() -> None:
    with pytest.raises(RefusalError) as refused:
        check_branch_rules("issuewright/1-x", [_rule("starts_with", "feature/")])
    assert str(refused.value) == (
        "branch name 'issuewright/1-x' does not fit: by the rule `branch_name_pattern` of ruleset 'Naming' "
        "it must start with 'feature/'; set `branch` in .github/issuewright.yml"
    )


@pytest.mark.parametrize(
    ("kind", "pattern", "fits"),
    [
        ("commit_author_email_pattern", "@example.org", True),
        ("commit_author_email_pattern", "@company.com", False),
        ("committer_email_pattern", "@company.com", False),
        ("commit_message_pattern", "#1", True),
        ("commit_message_pattern", "JIRA-", False),
        ("branch_name_pattern", "elsewhere", True),
    ],
)
def test_rules_about_commits(kind: str, pattern: str, fits: bool) -> None:
    rules = [_rule("contains", pattern, kind=kind)]
    if fits:
        check_commit_rules(details(), rules)
    else:
        with pytest.raises(RefusalError, match=f"`{kind}` of ruleset 'Naming'"):
            check_commit_rules(details(), rules)
