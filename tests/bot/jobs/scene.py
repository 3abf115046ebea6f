"""A GitHub in memory with a real git remote, and everything a Job needs, scripted model and real sandbox."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from bot.behaviours.context import Bot
from bot.demo.git_server import GitServer
from bot.github.fake import FakeGitHub
from bot.github.fake_repository import FakeRepository
from bot.github.types import RepoRef
from bot.jobs.desk import Desk
from bot.jobs.fake import FakeJobs
from bot.jobs.steps import ResultT
from bot.jobs.types import JobOrder, JobRequest
from bot.progress import Display
from bot.runs import RunStore
from bot.settings import Settings
from bot.solving import Equipment
from pipelines.checks.written import WritingParameters
from pipelines.model.protocol import Model
from pipelines.model.scripted import ScriptedModel
from pipelines.strategies.direct import DirectParameters
from sandbox import SandboxBackend
from tests.bot.conftest import git
from tests.pipelines.scenes import ISSUE, RIGHT, by_kind

REPO = RepoRef(owner="octo", name="repo")
TITLE = "Double a number"
BODY = ISSUE.partition("\n")[2].lstrip()


@dataclass
class Scene:
    """One repository, one issue, one Job at a time."""

    github: FakeGitHub
    repository: FakeRepository
    remote: Path
    jobs: FakeJobs
    desk: Desk
    model: ScriptedModel

    def order(self, **facts: Any) -> JobOrder:
        known = {
            "repo": REPO,
            "issue": 1,
            "title": TITLE,
            "body": BODY,
            "author": "alice",
            "html_url": "https://github.com/octo/repo/issues/1",
            "requested_by": "maria",
            "requested_at": datetime.now(UTC),
        }
        return JobOrder.model_validate(known | facts)

    async def request(self, **facts: Any) -> JobRequest:
        return (await self.jobs.start(self.order(**facts))).job.request

    def status(self) -> str:
        """The status comment's text."""
        return next(c.body for c in self.repository.talk[1] if "issuewright:status" in c.body)


@contextmanager
def scene(
    folder: Path,
    backend: SandboxBackend,
    *,
    on_push: Callable[[], None] = lambda: None,
    **answers: Any,
) -> Iterator[Scene]:
    server = GitServer(folder / "remotes", lambda token: token == "fake-token", lambda *_: on_push())
    remote = server.create("octo/repo")
    fill(folder, remote)
    with server.serve() as url:
        github = FakeGitHub()
        repository = github.add_repository(remote=remote, push_url=f"{url}/octo/repo.git")
        repository.roles = {"maria": "write"}
        repository.open_issue(TITLE, BODY, labels=("issuewright",))
        jobs = FakeJobs()
        settings = Settings(
            data_dir=folder / "data",
            direct=DirectParameters(samples=2, repairs=1),
            tester=WritingParameters(generations=2),
        )
        model = ScriptedModel(
            by_kind(**({"greedy": RIGHT, "tester": "assert double(7) == 14\n", "analyst": "{}"} | answers))
        )
        desk = Desk(
            bot=Bot(github, jobs, settings.github, settings.service),
            settings=settings,
            runs=RunStore(settings.data_dir),
            clones=folder / "clones",
            equipment=equipment(model, backend),
        )
        yield Scene(github, repository, remote, jobs, desk, model)


def fill(folder: Path, remote: Path) -> None:
    """A first commit with a package, pushed to the remote."""
    work = folder / "work"
    files = {
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
        "src/pkg/__init__.py": "",
        "tests/test_old.py": "def test_old():\n    assert True\n",
    }
    for path, text in files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    git(work, "init", "-q", "-b", "main")
    git(work, "config", "user.name", "Someone")
    git(work, "config", "user.email", "someone@example.org")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "Start")
    git(work, "push", "-q", str(remote), "main")


def equipment(model: Model, backend: SandboxBackend) -> Any:
    def of(_settings: Settings, _display: Display) -> Equipment:
        @asynccontextmanager
        async def opened(_files: Mapping[str, bytes]) -> AsyncIterator[tuple[Model, SandboxBackend]]:
            yield model, backend

        return opened

    return of


class KnownSteps:
    """Does the steps whose results are not known yet; what each gave is kept, as a durable workflow does."""

    def __init__(self, results: Mapping[str, BaseModel] | None = None) -> None:
        self.results = dict(results or {})
        self.names: list[str] = []

    async def do(
        self, name: str, action: Callable[[], Awaitable[ResultT]], returns: type[ResultT]
    ) -> ResultT:
        self.names.append(name)
        if name not in self.results:
            self.results[name] = await action()
        stored = self.results[name].model_dump_json(exclude_defaults=True)
        return returns.model_validate_json(stored)
