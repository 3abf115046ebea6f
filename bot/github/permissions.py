"""What the bot may do as a GitHub App: never more than its work needs, and no workflows."""

from collections.abc import Mapping

PERMISSIONS: Mapping[str, str] = {
    "metadata": "read",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "checks": "read",
    "actions": "read",
}
"""Asked for by the manifest and by each token. `workflows` is left out: such files are not the bot's."""

REQUIRED: frozenset[str] = frozenset(("metadata", "contents", "issues", "pull_requests"))
"""Those without which there is no pull request; the others tell why a check failed."""

EVENTS: tuple[str, ...] = (
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "check_suite",
    "workflow_run",
)
"""What GitHub tells the bot about."""

_LEVELS = ("none", "read", "write", "admin")


def usable(granted: Mapping[str, str]) -> dict[str, str]:
    """What to ask for a token: our permissions as far as they were granted, for GitHub refuses more."""
    return {
        name: wanted if _covers(granted, name, wanted) else granted[name]
        for name, wanted in PERMISSIONS.items()
        if _level(granted.get(name, "none")) > 0
    }


def missing(granted: Mapping[str, str]) -> tuple[str, ...]:
    """The required permissions that were not granted, as `contents: write`."""
    return tuple(
        f"{name}: {wanted}"
        for name, wanted in PERMISSIONS.items()
        if name in REQUIRED and not _covers(granted, name, wanted)
    )


def missing_of_collaborator(rights: Mapping[str, bool]) -> tuple[str, ...]:
    """The same for a token, as far as GitHub says what its owner may do: `permissions` of a repository."""
    if rights.get("push"):
        return ()
    return ("contents: write", "pull_requests: write", *(() if rights.get("triage") else ("issues: write",)))


def _covers(granted: Mapping[str, str], name: str, wanted: str) -> bool:
    return _level(granted.get(name, "none")) >= _level(wanted)


def _level(name: str) -> int:
    return _LEVELS.index(name) if name in _LEVELS else 0
