"""One Run on one commit, from its manifest alone: what the command line, the Jobs and a replay share."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version

from bot.git.repository import GitRepository
from bot.runs import Manifest, now
from bot.settings import Settings
from pipelines.budget import Meter
from pipelines.errors import RefusalError
from pipelines.ledger import Ledger
from pipelines.model.protocol import Model
from pipelines.pipeline import PipelineOptions, Result, question_before, solve_requirement
from pipelines.prompting import prompts_digest
from pipelines.repository.rules import NO_RULES, RepositoryRules
from pipelines.requirement.parse import parse_issue
from pipelines.run import Listener, Run, Services
from pipelines.strategies.base import Strategy
from pipelines.strategies.direct import Direct, DirectParameters
from sandbox import SandboxBackend

Equipment = Callable[
    [Mapping[str, bytes]], AbstractAsyncContextManager[tuple[Model | None, SandboxBackend | None]]
]
"""Opens model and sandbox for a repository's files; a replay has neither."""


@asynccontextmanager
async def no_equipment(_files: Mapping[str, bytes]) -> AsyncIterator[tuple[None, None]]:
    """Neither model nor sandbox."""
    yield None, None


def new_manifest(
    settings: Settings,
    *,
    issue_path: str,
    issue_text: bytes,
    repository: GitRepository,
    base: str,
    strategy: str,
    branch: str | None = None,
    issue: int | None = None,
    rules: RepositoryRules = NO_RULES,
) -> Manifest:
    """Everything that decides a Run of this text on this commit.

    Raises RefusalError for an unknown strategy.
    """
    manifest = Manifest(
        issue_path=issue_path,
        issue_text=issue_text,
        repository=str(repository.root),
        base=base,
        models=settings.models(),
        strategy=strategy,
        parameters={
            "direct": settings.direct.model_dump(),
            "tester": settings.tester.model_dump(),
            "rules": rules.model_dump(mode="json"),
        },
        seed=settings.seed,
        budget=settings.budget,
        author_name=settings.author_name,
        author_email=settings.author_email,
        branch=branch,
        issue=issue,
        started=now(),
        version=version("issuewright"),
        prompts=prompts_digest(),
    )
    make_strategy(manifest)
    return manifest


async def solve(
    ledger: Ledger,
    repository: GitRepository,
    manifest: Manifest,
    equipment: Equipment,
    listener: Listener,
    *,
    run_id: str,
) -> Result:
    """The Run's result; what its Ledger holds already is not done again."""
    requirement = parse_issue(manifest.issue_text, path=manifest.issue_path)
    snapshot = repository.snapshot(repository.base(manifest.base).commit)
    options = pipeline_options(manifest)
    question = question_before(requirement, snapshot, options.rules)
    if question is not None:
        return question
    async with equipment(snapshot.files) as (model, backend):
        services = Services(model, backend, ledger, Meter(manifest.budget), listener, job=run_id)
        run = Run(services, seed=manifest.seed)
        strategy = make_strategy(manifest)
        return await solve_requirement(run, requirement, snapshot, strategy, options)


def make_strategy(manifest: Manifest) -> Strategy:
    """The strategy of a manifest. Raises RefusalError for an unknown name."""
    if manifest.strategy == "direct":
        return Direct(DirectParameters.model_validate(manifest.parameters["direct"]))
    raise RefusalError(f"there is no strategy {manifest.strategy!r}; known: direct")


def pipeline_options(manifest: Manifest) -> PipelineOptions:
    """What the pipelines are told besides the strategy; a record of before there were rules has none."""
    parameters = manifest.parameters
    return PipelineOptions.model_validate(
        {"tester": parameters["tester"], "rules": parameters.get("rules", {})}
    )
