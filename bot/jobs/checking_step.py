"""What a good colleague looks at before starting: is the work wanted, allowed and possible."""

from bot.behaviours.prechecks import refusal
from bot.behaviours.status import order_language
from bot.git.branch_name import branch_name, check_commit_rules
from bot.git.commit import CommitDetails
from bot.jobs.author import bot_author
from bot.jobs.desk import Desk
from bot.jobs.types import JobOutcome, JobRequest
from bot.record import Record
from bot.repository_config import RepositoryConfig, load_config
from bot.speech.texts import say


class Checked(Record):
    """What the rest of the Job goes by; with an outcome there is no rest."""

    outcome: JobOutcome | None = None
    base: str = ""
    """Branch to start from and to ask for the merge into."""
    branch: str = ""
    """The bot's own branch."""
    config: RepositoryConfig = RepositoryConfig()


async def checked(desk: Desk, request: JobRequest) -> Checked:
    """Look before anything is spent. Raises RefusalError for what people have to change first."""
    order = request.order
    repository = await desk.github.repository(order.repo)
    outcome = await refusal(desk, request, repository)
    if outcome is not None:
        return Checked(outcome=outcome)
    missing = await desk.github.missing_permissions(order.repo)
    if missing:
        told = say(order_language(order), "reply.missing_permissions", permissions=", ".join(missing))
        return Checked(outcome=JobOutcome(status="refused", reasons=(told,)))
    offered = desk.settings.offered_models
    config_branch = order.base or repository.default_branch
    config = await load_config(desk.github, order.repo, config_branch, models=offered)
    # The name decides which rules apply, and the rules whether the name will do.
    name = branch_name(order.title, number=order.issue, template=config.branch)
    rules = await desk.github.branch_rules(order.repo, name)
    check_commit_rules(await _probable_commit(desk, request), rules)
    return Checked(
        base=order.base or config.base or repository.default_branch,
        branch=branch_name(order.title, number=order.issue, template=config.branch, rules=rules),
        config=config,
    )


async def _probable_commit(desk: Desk, request: JobRequest) -> CommitDetails:
    """The commit as far as it is known before there is one: what rules ask of its subject and author."""
    author = desk.settings.model_copy(update=bot_author(await desk.github.identity(), desk.settings))
    return CommitDetails(
        message=" ".join(request.order.title.split()),
        author_name=author.author_name,
        author_email=author.author_email,
        when=request.order.requested_at,
    )
