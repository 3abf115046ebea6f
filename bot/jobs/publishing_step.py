"""From a Run's result to a branch and a draft pull request; whatever is there already is used."""

from bot.git.publish import Publication, publish
from bot.github.errors import Rejected
from bot.github.types import PullRequest
from bot.jobs.board import Board
from bot.jobs.checking_step import Checked
from bot.jobs.desk import Desk
from bot.jobs.solving_step import Solved, job_commit_details
from bot.jobs.types import JobRequest
from bot.record import Record
from bot.speech.pull_request import pull_request_body
from pipelines.errors import RefusalError


class Pushed(Record):
    """What stands on the bot's branch."""

    branch: str
    commit: str
    changed: bool
    """Whether this Job changed the branch."""
    kept_commits: int
    """Other people's commits, which stay."""


async def pushed(desk: Desk, request: JobRequest, check: Checked, work: Solved, board: Board) -> Pushed:
    """Put the files on the branch. Raises RefusalError where people have to decide."""
    await board.at("push")
    await refuse_closed(desk, request)
    publication = Publication(
        base=work.manifest.base,
        branch=check.branch,
        files={path: text.encode() for path, text in work.result.files.items()},
        details=job_commit_details(work.manifest, work.result, work.run_id),
        allowed_paths=check.config.allowed_paths,
        secrets=desk.secrets,
    )
    access = await desk.github.push_access(request.order.repo)
    done = await publish(desk.clones, access, publication, ca_bundle=desk.settings.github.ca_bundle)
    return Pushed(branch=done.branch, commit=done.commit, changed=done.pushed, kept_commits=done.kept_commits)


async def refuse_closed(desk: Desk, request: JobRequest) -> None:
    """Raise RefusalError when the issue was closed while we worked."""
    issue = await desk.github.issue(request.order.repo, request.order.issue)
    if issue.state == "closed":
        raise RefusalError("the issue was closed meanwhile, so nothing was published; reopen it to go on")


class Opened(Record):
    """The pull request of a Job."""

    number: int
    url: str


async def pull_request_opened(
    desk: Desk, request: JobRequest, check: Checked, work: Solved, push: Pushed, board: Board
) -> Opened:
    """The branch's pull request with the evidence of this Run: edited, reopened or made."""
    await board.at("pull_request")
    body = pull_request_body(
        work.result, work.manifest, run_id=work.run_id, branch=push.branch, issue=request.order.issue
    )
    repo = request.order.repo
    pulls = [pull for pull in await desk.github.pull_requests(repo, head=push.branch) if not pull.merged]
    pull = await _existing(desk, request, pulls, body) or await _created(desk, request, check, push, body)
    return Opened(number=pull.number, url=pull.html_url)


async def _existing(
    desk: Desk, request: JobRequest, pulls: list[PullRequest], body: str
) -> PullRequest | None:
    """The open one, or the closed one opened again; None where a new one is needed."""
    repo = request.order.repo
    still_open = next((pull for pull in pulls if pull.state == "open"), None)
    if still_open is not None:
        if still_open.body.strip() == body.strip():
            return still_open
        return await desk.github.edit_pull_request(repo, still_open.number, body=body)
    if not pulls:
        return None
    try:
        return await desk.github.edit_pull_request(repo, pulls[0].number, body=body, reopen=True)
    except Rejected:
        return None  # GitHub opens none again whose branch was deleted or made anew in between.


async def _created(desk: Desk, request: JobRequest, check: Checked, push: Pushed, body: str) -> PullRequest:
    """A new draft; a plain one where the repository has no drafts."""
    create = desk.github.create_pull_request
    repo, title = request.order.repo, request.order.title
    try:
        return await create(repo, head=push.branch, base=check.base, title=title, body=body, draft=True)
    except Rejected as rejected:
        if "draft" not in str(rejected).lower():
            raise
        return await create(repo, head=push.branch, base=check.base, title=title, body=body, draft=False)
