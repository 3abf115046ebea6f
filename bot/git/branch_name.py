"""The bot's branch for an issue, and whether a repository's rules let it be pushed."""

import re
from collections.abc import Callable, Iterable, Mapping

from bot.git.branch import branch_slug
from bot.git.commit import CommitDetails
from bot.github.types import BranchRule
from pipelines.errors import RefusalError

TEMPLATE = "issuewright/{number}-{slug}"

_OPERATORS: Mapping[str, tuple[str, Callable[[str, str], bool]]] = {
    "starts_with": ("start with", str.startswith),
    "ends_with": ("end with", str.endswith),
    "contains": ("contain", str.__contains__),
    "regex": ("match", lambda text, pattern: _found(pattern, text)),
}
_FORBIDDING = {
    "creation": "lets only some people create a branch of this name: allow the App to bypass it",
    "update": "lets only some people push to a branch of this name: allow the App to bypass it",
    "required_signatures": "wants signed commits, and the bot's are not: leave the bot's branches out of it",
}


def branch_name(
    title: str, *, number: int, rules: Iterable[BranchRule] = (), template: str = TEMPLATE
) -> str:
    """The template's `{number}` and `{slug}` filled in; a title without ASCII letters leaves out the slug.

    Raises RefusalError naming the rule that forbids this branch.
    """
    name = template.replace("{number}", str(number)).replace("{slug}", branch_slug(title, fallback=""))
    if "{slug}" in template:
        name = "/".join(part.strip("-_") for part in name.split("/"))
    if not name or set("{}") & set(name):
        raise RefusalError(
            f"`branch: {template}` gives no branch name: use `{{number}}` and `{{slug}}` and no other braces"
        )
    check_branch_rules(name, rules)
    return name


def check_branch_rules(name: str, rules: Iterable[BranchRule]) -> None:
    """Raise RefusalError naming a rule that forbids to create or push this branch.

    A rule for linear history is met by every push of ours: it never contains a merge.
    """
    for rule in rules:
        if rule.type == "branch_name_pattern":
            _check_pattern(f"branch name {name!r}", name, rule, "set `branch` in .github/issuewright.yml")
        elif rule.type in _FORBIDDING:
            raise RefusalError(f"branch {name!r} cannot be pushed: {_named(rule)} {_FORBIDDING[rule.type]}")


def check_commit_rules(details: CommitDetails, rules: Iterable[BranchRule]) -> None:
    """Raise RefusalError naming a rule that forbids the commit's message, author or committer."""
    email = details.author_email
    texts = {
        "commit_message_pattern": ("the commit message", details.message),
        "commit_author_email_pattern": (f"the author {email!r}", email),
        "committer_email_pattern": (f"the committer {email!r}", email),
    }
    for rule in rules:
        if rule.type in texts:
            what, text = texts[rule.type]
            _check_pattern(what, text, rule, "set `author_email`, or exempt the bot's branches from the rule")


def _check_pattern(what: str, text: str, rule: BranchRule, advice: str) -> None:
    operator, pattern = str(rule.parameters.get("operator")), str(rule.parameters.get("pattern"))
    if operator not in _OPERATORS or (operator == "regex" and not _is_readable(pattern)):
        return  # GitHub itself says at the push what it wants
    verb, holds = _OPERATORS[operator]
    negate = bool(rule.parameters.get("negate"))
    if holds(text, pattern) == negate:
        must = "must not" if negate else "must"
        raise RefusalError(f"{what} does not fit: by {_named(rule)} it {must} {verb} {pattern!r}; {advice}")


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


def _is_readable(pattern: str) -> bool:
    """Whether Python's expressions know all that GitHub's do in this one."""
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _named(rule: BranchRule) -> str:
    source = f" of ruleset {rule.source!r}" if rule.source else ""
    return f"the rule `{rule.type}`{source}"
