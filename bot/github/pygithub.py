"""The gateway to a real GitHub, over PyGithub."""

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import quote

from bot.github.answers import Answer, Request
from bot.github.connection import Connection, next_page, success
from bot.github.credentials import credentials_of
from bot.github.errors import NotFound
from bot.github.hosts import api_root, web_root
from bot.github.pacing import Pace
from bot.github.readings import (
    CommentReading,
    ContentReading,
    IssueReading,
    PullRequestReading,
    ReadT,
    RefReading,
    RepositoryReading,
    RoleReading,
    RuleReading,
    read,
    read_list,
)
from bot.github.types import (
    Actor,
    BranchRule,
    Comment,
    Issue,
    PullRequest,
    PushAccess,
    Reaction,
    RepoRef,
    Repository,
    Role,
)
from bot.settings import GitHubSettings
from pipelines.errors import RefusalError

_PAGES = 3
"""The most pages of pull requests, of 100 each, that are looked through."""


class PyGitHub:
    """As `GitHub`. Calls may come from several event loops; each blocks a thread of its own meanwhile."""

    def __init__(self, settings: GitHubSettings) -> None:
        """Raises RefusalError for settings that give no access."""
        if settings.ca_bundle is not None and not settings.ca_bundle.is_file():
            raise RefusalError(f"github.ca_bundle {settings.ca_bundle} is not a file of certificates")
        connection = Connection(api_root(settings.api_url), ca_bundle=settings.ca_bundle)
        self._connection = connection
        self._credentials = credentials_of(settings, connection)
        self._git_root = (settings.git_url or web_root(settings.api_url)).rstrip("/")
        self._pace = Pace(settings.write_seconds)
        self._identity: Actor | None = None

    async def identity(self) -> Actor:
        """As `GitHub.identity`; asked for once."""
        if self._identity is None or not self._identity.id:
            self._identity = await asyncio.to_thread(self._credentials.identity)
        return self._identity

    async def repository(self, repo: RepoRef) -> Repository:
        """As `GitHub.repository`."""
        request = Request(f"read {repo.full_name}", "GET", _path(repo))
        return read(RepositoryReading, await self._ask(repo, request)).repository()

    async def role(self, repo: RepoRef, login: str) -> Role:
        """As `GitHub.role`."""
        path = _path(repo, "collaborators", login, "permission")
        request = Request(f"tell what {login} may do in {repo.full_name}", "GET", path)
        answer = await self._find(repo, request)
        return read(RoleReading, answer).role() if answer else "none"

    async def missing_permissions(self, repo: RepoRef) -> tuple[str, ...]:
        """As `GitHub.missing_permissions`."""
        return await asyncio.to_thread(self._credentials.missing_permissions, repo)

    async def issue(self, repo: RepoRef, number: int) -> Issue:
        """As `GitHub.issue`."""
        request = Request(f"read {_thing(repo, number)}", "GET", _path(repo, "issues", number))
        return read(IssueReading, await self._ask(repo, request)).issue()

    async def comments(self, repo: RepoRef, number: int) -> list[Comment]:
        """As `GitHub.comments`."""
        request = Request(
            f"read the comments of {_thing(repo, number)}",
            "GET",
            _path(repo, "issues", number, "comments"),
            query={"per_page": 100},
        )
        return [found.comment() for found in await self._list(repo, request, CommentReading)]

    async def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
        """As `GitHub.create_comment`."""
        path = _path(repo, "issues", number, "comments")
        request = Request(f"comment on {_thing(repo, number)}", "POST", path, body={"body": body})
        return read(CommentReading, await self._write(repo, request)).comment()

    async def edit_comment(self, repo: RepoRef, comment: int, body: str) -> Comment:
        """As `GitHub.edit_comment`."""
        path = _path(repo, "issues", "comments", comment)
        doing = f"edit comment {comment} in {repo.full_name}"
        answer = await self._write(repo, Request(doing, "PATCH", path, body={"body": body}))
        return read(CommentReading, answer).comment()

    async def react(
        self, repo: RepoRef, number: int, reaction: Reaction, *, comment: int | None = None
    ) -> None:
        """As `GitHub.react`."""
        thing = ("comments", comment) if comment is not None else (number,)
        path = _path(repo, "issues", *thing, "reactions")
        doing = f"react to {_thing(repo, number)}"
        await self._write(repo, Request(doing, "POST", path, body={"content": reaction}))

    async def add_label(self, repo: RepoRef, number: int, label: str) -> None:
        """As `GitHub.add_label`."""
        path = _path(repo, "issues", number, "labels")
        doing = f"label {_thing(repo, number)}"
        await self._write(repo, Request(doing, "POST", path, body={"labels": [label]}))

    async def file(self, repo: RepoRef, path: str, *, ref: str) -> bytes | None:
        """As `GitHub.file`."""
        doing = f"read {path} of {repo.full_name}"
        request = Request(doing, "GET", f"{_path(repo, 'contents')}/{quote(path)}", query={"ref": ref})
        answer = await self._find(repo, request)
        if answer is None or isinstance(answer.data, list):
            return None
        found = read(ContentReading, answer)
        if found.type != "file":
            return None
        if found.encoding != "base64":  # a file over 1 MB comes as its name only
            blob = Request(doing, "GET", _path(repo, "git", "blobs", found.sha))
            found = read(ContentReading, await self._ask(repo, blob))
        return found.content

    async def branch(self, repo: RepoRef, name: str) -> str | None:
        """As `GitHub.branch`; asks for the reference, for a renamed branch would lead to its successor."""
        path = f"{_path(repo, 'git', 'ref', 'heads')}/{quote(name)}"
        request = Request(f"read branch {name} of {repo.full_name}", "GET", path)
        answer = await self._find(repo, request, absent=(404, 409))  # 409: no commits at all
        return read(RefReading, answer).object.sha if answer else None

    async def branch_rules(self, repo: RepoRef, name: str) -> tuple[BranchRule, ...]:
        """As `GitHub.branch_rules`; none where GitHub has no such rules (older Enterprise Servers)."""
        path = f"{_path(repo, 'rules', 'branches')}/{quote(name)}"
        doing = f"read the rules for branch {name} of {repo.full_name}"
        try:
            found = await self._list(repo, Request(doing, "GET", path, query={"per_page": 100}), RuleReading)
        except NotFound:
            return ()
        return tuple(rule.rule() for rule in found)

    async def pull_request(self, repo: RepoRef, number: int) -> PullRequest:
        """As `GitHub.pull_request`."""
        request = Request(f"read {_thing(repo, number)}", "GET", _path(repo, "pulls", number))
        return read(PullRequestReading, await self._ask(repo, request)).pull_request()

    async def pull_requests(self, repo: RepoRef, *, head: str) -> list[PullRequest]:
        """As `GitHub.pull_requests`."""
        found = await self._pulls(repo, {"state": "all", "head": f"{repo.owner}:{head}"})
        # A renamed repository redirects and forgets the filter; a fork has branches of the same name.
        own = [pull for pull in found if pull.head.ref == head and pull.head.repo == pull.base.repo]
        return [pull.pull_request() for pull in own]

    async def recent_pull_requests(self, repo: RepoRef) -> list[PullRequest]:
        """As `GitHub.recent_pull_requests`."""
        latest = await self._pulls(repo, {"state": "closed", "sort": "updated", "direction": "desc"}, pages=1)
        latest += await self._pulls(repo, {"state": "open"})
        # One that was closed between the two questions is in both answers, or in neither.
        by_number = {pull.number: pull.pull_request() for pull in latest}
        return [by_number[number] for number in sorted(by_number, reverse=True)]

    async def create_pull_request(
        self, repo: RepoRef, *, head: str, base: str, title: str, body: str, draft: bool
    ) -> PullRequest:
        """As `GitHub.create_pull_request`."""
        content = {"head": head, "base": base, "title": title, "body": body, "draft": draft}
        doing = f"open a pull request from {head} to {base} in {repo.full_name}"
        answer = await self._write(repo, Request(doing, "POST", _path(repo, "pulls"), body=content))
        return read(PullRequestReading, answer).pull_request()

    async def edit_pull_request(
        self, repo: RepoRef, number: int, *, body: str | None = None, reopen: bool = False
    ) -> PullRequest:
        """As `GitHub.edit_pull_request`."""
        changes = ({"body": body} if body is not None else {}) | ({"state": "open"} if reopen else {})
        request = Request(
            f"change {_thing(repo, number)}", "PATCH", _path(repo, "pulls", number), body=changes
        )
        return read(PullRequestReading, await self._write(repo, request)).pull_request()

    async def push_access(self, repo: RepoRef) -> PushAccess:
        """As `GitHub.push_access`."""
        token = await asyncio.to_thread(self._credentials.token, repo, fresh=True)
        basic = b64encode(f"x-access-token:{token}".encode()).decode()
        url = f"{self._git_root}/{repo.full_name}.git"
        return PushAccess(url=url, authorization=f"Basic {basic}")

    async def _pulls(
        self, repo: RepoRef, query: Mapping[str, str], *, pages: int = _PAGES
    ) -> list[PullRequestReading]:
        request = Request(
            f"list the pull requests of {repo.full_name}",
            "GET",
            _path(repo, "pulls"),
            query={"per_page": 100, **query},
        )
        return await self._list(repo, request, PullRequestReading, pages=pages)

    async def _list(
        self, repo: RepoRef, request: Request, shape: type[ReadT], *, pages: int | None = None
    ) -> list[ReadT]:
        """All pages, or the first ones."""
        found: list[ReadT] = []
        page: Request | None = request
        while page is not None and pages != 0:
            answer = await self._ask(repo, page)
            found += read_list(shape, answer)
            page = next_page(page, answer)
            pages = None if pages is None else pages - 1
        return found

    async def _find(
        self, repo: RepoRef, request: Request, *, absent: tuple[int, ...] = (404,)
    ) -> Answer | None:
        """The answer, or None for a status that says that there is none."""
        answer = await asyncio.to_thread(self._send, repo, request)
        return None if answer.status in absent else success(answer, request)

    async def _ask(self, repo: RepoRef, request: Request) -> Answer:
        return success(await asyncio.to_thread(self._send, repo, request), request)

    async def _write(self, repo: RepoRef, request: Request) -> Answer:
        await self._pace.turn()
        return await self._ask(repo, request)

    def _send(self, repo: RepoRef, request: Request) -> Answer:
        token = self._credentials.token(repo)
        answer = self._connection.send(request, token)
        # A request without valid credentials was not carried out: it may go once more, a write too.
        if answer.status == 401 and self._credentials.reject(repo, token):
            answer = self._connection.send(request, self._credentials.token(repo))
        return answer


def _path(repo: RepoRef, *parts: str | int) -> str:
    """A path below a repository, each part quoted whole."""
    return "/".join(["/repos", *(quote(str(part), safe="") for part in (repo.owner, repo.name, *parts))])


def _thing(repo: RepoRef, number: int) -> str:
    return f"#{number} in {repo.full_name}"
