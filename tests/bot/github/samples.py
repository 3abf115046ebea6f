"""GitHub's JSON as the gateway's tests need it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.bot.github.stub import Reply, Stub

ROOT = "/repos/octo/repo"
COMMENTS = f"{ROOT}/issues/7/comments"
TOKENS = "/app/installations/12/access_tokens"
USER = {"login": "alice", "id": 5, "type": "User"}


def comment(ident: int = 70, body: str | None = "Hello") -> dict[str, Any]:
    return {
        "id": ident,
        "body": body,
        "user": USER,
        "html_url": f"https://github.com/octo/repo/issues/7#issuecomment-{ident}",
        "created_at": "2026-01-02T03:04:05Z",
    }


def pull(number: int, **changes: Any) -> dict[str, Any]:
    own = {"full_name": "octo/repo"}
    return {
        "number": number,
        "title": "Tea",
        "body": None,
        "state": "open",
        "draft": True,
        "merged_at": None,
        "head": {"ref": "issuewright/7-tea", "sha": "a" * 40, "repo": own},
        "base": {"ref": "main", "sha": "b" * 40, "repo": own},
        "user": USER,
        "html_url": f"https://github.com/octo/repo/pull/{number}",
        **changes,
    }


def stub_app(stub: Stub, *, tokens: tuple[str, ...] = ("ghs_1",), minutes: int = 60) -> None:
    """An installation that lacks one permission and has another that nobody needs."""
    permissions = {"contents": "write", "issues": "write", "metadata": "read", "pages": "write"}
    stub.reply("GET", f"{ROOT}/installation", Reply(200, {"id": 12, "permissions": permissions}))
    expires = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()
    stub.reply("POST", TOKENS, *(Reply(201, {"token": token, "expires_at": expires}) for token in tokens))
