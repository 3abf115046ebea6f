"""FakeGitHub behind GitHub's REST API, so that the real gateway can be held against it."""

import asyncio
import re
from base64 import encodebytes
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import unquote

from bot.github.errors import Forbidden, GitHubError, NotFound, Rejected
from bot.github.fake import FakeGitHub
from bot.github.types import Actor, Comment, Issue, PullRequest, RepoRef
from tests.bot.github.stub import Reply, Seen

_STATUS: dict[type[GitHubError], int] = {NotFound: 404, Forbidden: 403, Rejected: 422}
Handler = Callable[[FakeGitHub, RepoRef, list[str], Seen], Coroutine[Any, Any, Any]]


def answer(fake: FakeGitHub, seen: Seen) -> Reply:
    """What GitHub would answer if it were this one."""
    if (seen.verb, seen.path) == ("GET", "/user"):
        return Reply(200, _user(fake.actor))
    for (verb, pattern), handler in ROUTES.items():
        found = re.fullmatch(f"/repos/([^/]+)/([^/]+){pattern}", seen.path)
        if found and verb == seen.verb:
            owner, name, *rest = map(unquote, found.groups())
            try:
                data = asyncio.run(handler(fake, RepoRef(owner=owner, name=name), rest, seen))
            except GitHubError as error:
                return Reply(_STATUS[type(error)], {"message": str(error)})
            return Reply(404, {"message": "Not Found"}) if data is None else Reply(200, data)
    raise AssertionError(f"{seen.verb} {seen.path}")


async def _repository(fake: FakeGitHub, repo: RepoRef, _rest: list[str], _seen: Seen) -> Any:
    missing = await fake.missing_permissions(repo)
    facts = (await fake.repository(repo)).model_dump()
    return {**facts, "permissions": {"push": not missing, "triage": True}}


async def _role(fake: FakeGitHub, repo: RepoRef, rest: list[str], _seen: Seen) -> Any:
    role = await fake.role(repo, rest[0])
    return None if role == "none" else {"permission": "read", "role_name": role}


async def _issue(fake: FakeGitHub, repo: RepoRef, rest: list[str], _seen: Seen) -> Any:
    return _issue_json(await fake.issue(repo, int(rest[0])))


async def _comments(fake: FakeGitHub, repo: RepoRef, rest: list[str], _seen: Seen) -> Any:
    return [_comment_json(each) for each in await fake.comments(repo, int(rest[0]))]


async def _create_comment(fake: FakeGitHub, repo: RepoRef, rest: list[str], seen: Seen) -> Any:
    return _comment_json(await fake.create_comment(repo, int(rest[0]), seen.body["body"]))


async def _edit_comment(fake: FakeGitHub, repo: RepoRef, rest: list[str], seen: Seen) -> Any:
    return _comment_json(await fake.edit_comment(repo, int(rest[0]), seen.body["body"]))


async def _react(fake: FakeGitHub, repo: RepoRef, rest: list[str], seen: Seen) -> Any:
    await fake.react(repo, int(rest[0]), seen.body["content"])
    return {}


async def _label(fake: FakeGitHub, repo: RepoRef, rest: list[str], seen: Seen) -> Any:
    for label in seen.body["labels"]:
        await fake.add_label(repo, int(rest[0]), label)
    return []


async def _file(fake: FakeGitHub, repo: RepoRef, rest: list[str], seen: Seen) -> Any:
    content = await fake.file(repo, rest[0], ref=seen.query["ref"])
    if content is None:
        return None
    return {"type": "file", "encoding": "base64", "content": encodebytes(content).decode()}


async def _branch(fake: FakeGitHub, repo: RepoRef, rest: list[str], _seen: Seen) -> Any:
    commit = await fake.branch(repo, rest[0])
    return commit and {"object": {"sha": commit}}


async def _rules(fake: FakeGitHub, repo: RepoRef, rest: list[str], _seen: Seen) -> Any:
    rules = await fake.branch_rules(repo, rest[0])
    return [rule.model_dump(exclude={"source"}) for rule in rules]


async def _pulls(fake: FakeGitHub, repo: RepoRef, _rest: list[str], seen: Seen) -> Any:
    head = seen.query.get("head", "").partition(":")[2]
    listed = await fake.recent_pull_requests(repo)
    state = seen.query["state"]
    return [
        _pull_json(pull)
        for pull in listed
        if state in ("all", pull.state) and (not head or pull.head_ref == head)
    ]


async def _pull(fake: FakeGitHub, repo: RepoRef, rest: list[str], _seen: Seen) -> Any:
    return _pull_json(await fake.pull_request(repo, int(rest[0])))


async def _open(fake: FakeGitHub, repo: RepoRef, _rest: list[str], seen: Seen) -> Any:
    return _pull_json(await fake.create_pull_request(repo, **seen.body))


async def _edit(fake: FakeGitHub, repo: RepoRef, rest: list[str], seen: Seen) -> Any:
    body, reopen = seen.body.get("body"), seen.body.get("state") == "open"
    return _pull_json(await fake.edit_pull_request(repo, int(rest[0]), body=body, reopen=reopen))


ROUTES: dict[tuple[str, str], Handler] = {
    ("GET", ""): _repository,
    ("GET", "/collaborators/([^/]+)/permission"): _role,
    ("GET", r"/issues/(\d+)"): _issue,
    ("GET", r"/issues/(\d+)/comments"): _comments,
    ("POST", r"/issues/(\d+)/comments"): _create_comment,
    ("PATCH", r"/issues/comments/(\d+)"): _edit_comment,
    ("POST", r"/issues/(\d+)/reactions"): _react,
    ("POST", r"/issues/(\d+)/labels"): _label,
    ("GET", "/contents/(.+)"): _file,
    ("GET", "/git/ref/heads/(.+)"): _branch,
    ("GET", "/rules/branches/(.+)"): _rules,
    ("GET", "/pulls"): _pulls,
    ("POST", "/pulls"): _open,
    ("GET", r"/pulls/(\d+)"): _pull,
    ("PATCH", r"/pulls/(\d+)"): _edit,
}


def _user(actor: Actor) -> dict[str, Any]:
    return actor.model_dump()


def _comment_json(comment: Comment) -> dict[str, Any]:
    return {**comment.model_dump(mode="json", exclude={"author"}), "user": _user(comment.author)}


def _issue_json(issue: Issue) -> dict[str, Any]:
    return {
        **issue.model_dump(mode="json", exclude={"author", "labels", "is_pull_request"}),
        "labels": [{"name": label} for label in issue.labels],
        "user": _user(issue.author),
        **({"pull_request": {}} if issue.is_pull_request else {}),
    }


def _pull_json(pull: PullRequest) -> dict[str, Any]:
    repo = pull.head_repo and {"full_name": pull.head_repo}
    return {
        **pull.model_dump(exclude={"author", "head_ref", "head_sha", "head_repo", "base_ref"}),
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": repo},
        "base": {"ref": pull.base_ref, "sha": "0" * 40, "repo": repo},
        "user": _user(pull.author),
    }
