from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.answers import Answer, failure
from bot.github.errors import Forbidden, GitHubError, NotFound, RateLimited, Rejected, Unavailable

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def judge(status: int, data: Any = None, **headers: str) -> GitHubError | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure(Answer(status, named, data), "comment on #7 in octo/repo", now=NOW)


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_a_success_is_no_failure(status: int) -> None:
    assert judge(status, x_ratelimit_remaining="0") is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, Rejected),
        (307, Rejected),
        (400, Rejected),
        (401, Forbidden),
        (403, Forbidden),
        (404, NotFound),
        (405, Rejected),
        (408, Unavailable),
        (409, Rejected),
        (410, NotFound),
        (422, Rejected),
        (429, RateLimited),
        (451, Rejected),
        (500, Unavailable),
        (502, Unavailable),
        (503, Unavailable),
        (504, Unavailable),
    ],
)
def test_each_status_has_its_error(status: int, kind: type[GitHubError]) -> None:
    error = judge(status, {"message": "So it is"})
    assert type(error) is kind
    assert f"comment on #7 in octo/repo: So it is (HTTP {status})" in str(error)


def retry_at(error: GitHubError | None) -> datetime:
    assert isinstance(error, RateLimited)
    return error.retry_at


@pytest.mark.parametrize("status", [403, 429])
def test_the_servers_own_wait_comes_first(status: int) -> None:
    reset = str(int(NOW.timestamp()) + 3000)
    error = judge(status, retry_after="30", x_ratelimit_remaining="0", x_ratelimit_reset=reset)
    assert retry_at(error) == NOW + timedelta(seconds=30)


@pytest.mark.parametrize("status", [403, 429])
def test_a_spent_limit_ends_at_its_reset(status: int) -> None:
    reset = str(int(NOW.timestamp()) + 3000)
    error = judge(status, x_ratelimit_remaining="0", x_ratelimit_reset=reset)
    assert retry_at(error) == NOW + timedelta(seconds=3001)


def test_a_reset_that_is_over_is_now() -> None:
    error = judge(403, x_ratelimit_remaining="0", x_ratelimit_reset="1")
    assert retry_at(error) == NOW


def test_a_limit_without_a_time_lasts_a_minute() -> None:
    said = {"message": "You have exceeded a secondary rate limit"}
    for error in (
        judge(403, said),
        judge(429),
        judge(429, retry_after="Fri, 31 Dec 1999 23:59:59 GMT"),
        judge(429, retry_after="²"),
    ):
        assert retry_at(error) == NOW + timedelta(seconds=60)


def test_a_limit_that_is_not_spent_is_a_matter_of_permissions() -> None:
    reset = str(int(NOW.timestamp()) + 3000)
    error = judge(
        403, {"message": "Must have admin rights"}, x_ratelimit_remaining="4000", x_ratelimit_reset=reset
    )
    assert type(error) is Forbidden


def test_a_server_that_asks_to_wait_is_not_a_rate_limit() -> None:
    assert type(judge(503, retry_after="120")) is Unavailable


def test_the_scope_of_a_classic_token_is_named() -> None:
    assert "scopes repo, public_repo" in str(judge(403, x_accepted_oauth_scopes="repo, public_repo"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "no explanation"),
        ([], "no explanation"),
        ({"message": None}, "no explanation"),
        ({"message": "A", "errors": None}, "A (HTTP"),
        ({"message": "A", "errors": "odd"}, "A (HTTP"),
        ({"message": "A", "errors": ["b", {"field": "head", "code": "invalid"}]}, "A: b; head is invalid"),
        ({"message": "A", "errors": [{"resource": "Issue"}]}, "A: a field is wrong"),
    ],
)
def test_the_words_are_githubs(data: Any, words: str) -> None:
    assert words in str(judge(422, data))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
bodies = json_values | st.fixed_dictionaries({"message": json_values, "errors": json_values})


@given(
    status=st.sampled_from([403, 429]) | st.integers(300, 599),
    data=bodies,
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset"]),
        st.text("0123456789-.²", max_size=14),
    ),
)
def test_any_answer_has_an_error(status: int, data: Any, headers: dict[str, str]) -> None:
    error = failure(Answer(status, headers, data), "do", now=NOW)
    assert isinstance(error, GitHubError)
    if isinstance(error, RateLimited):
        assert error.retry_at >= NOW
