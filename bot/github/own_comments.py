"""Comments of our own that must not be written twice: found again by their hidden marker and their author."""

from bot.github.errors import NotFound
from bot.github.protocol import GitHub
from bot.github.types import Comment, RepoRef


async def find_own(github: GitHub, repo: RepoRef, number: int, marker: str) -> Comment | None:
    """Our first comment that carries the marker; one that somebody copied is not ours."""
    comments = [comment for comment in await github.comments(repo, number) if marker in comment.body]
    if not comments:
        return None
    own = await github.identity()
    return next((comment for comment in comments if comment.author.login == own.login), None)


async def say_once(github: GitHub, repo: RepoRef, number: int, body: str, *, marker: str) -> Comment:
    """Comment, unless a comment of ours with this marker is there; the body has to hold the marker."""
    found = await find_own(github, repo, number, marker)
    return found or await github.create_comment(repo, number, body)


class LivingComment:
    """One comment of ours that is edited instead of repeated, such as the status of an issue.

    The handlers of an issue's events, which run one after the other, create it before there is a Job. A Job
    makes it anew only where somebody deleted it.
    """

    def __init__(self, github: GitHub, repo: RepoRef, number: int, *, marker: str) -> None:
        self._github = github
        self._repo = repo
        self._number = number
        self._marker = marker
        self._known: Comment | None = None

    async def show(self, body: str) -> None:
        """Make the comment say this; nothing is sent when it does already."""
        if self._known is None:
            self._known = await find_own(self._github, self._repo, self._number, self._marker)
        if self._known is not None and self._known.body == body:
            return
        self._known = await self._edited(body) or await self._github.create_comment(
            self._repo, self._number, body
        )

    async def _edited(self, body: str) -> Comment | None:
        if self._known is None:
            return None
        try:
            edited = await self._github.edit_comment(self._repo, self._known.id, body)
        except NotFound:
            return None
        return edited
