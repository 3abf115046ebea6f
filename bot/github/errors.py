"""What GitHub may answer instead of what was asked, by who must react.

GitHubError
├── NotFound              it is not there, or may not be seen
├── Forbidden             a permission is missing: tell the person which
├── Rejected              GitHub found the request itself wrong (409, 422)
└── Unavailable           try again later (5xx, connection, time-out)
    └── RateLimited       not before `retry_at`
"""

from datetime import datetime

from pipelines.errors import InfrastructureError, PipelineError, RefusalError


class GitHubError(PipelineError):
    """Base of everything that GitHub may answer; the message names operation, repository and what to do."""


class NotFound(GitHubError, RefusalError):
    """The thing is not there, or this identity may not see it."""


class Forbidden(GitHubError, RefusalError):
    """This identity lacks a permission."""


class Rejected(GitHubError, RefusalError):
    """GitHub refuses the request as it is; trying again will not help."""


class Unavailable(GitHubError, InfrastructureError):
    """GitHub cannot be reached or fails; a write may or may not have happened."""


class RateLimited(Unavailable):
    """Too many requests."""

    def __init__(self, message: str, *, retry_at: datetime) -> None:
        super().__init__(message)
        self.retry_at = retry_at
        """The earliest time for the next try, in UTC."""
