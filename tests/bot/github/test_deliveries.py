from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.github.deliveries import Delivery, missed, redeliver_missed
from bot.github.errors import Forbidden, Unavailable
from bot.settings import GitHubSettings
from tests.bot.github.stub import Reply, Stub

START = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
LISTED = "/app/hook/deliveries"


def delivery(ident: int, guid: str, status: int, *, minutes: float = 0) -> Delivery:
    at = START + timedelta(minutes=minutes)
    return Delivery(id=ident, guid=guid, delivered_at=at, status_code=status)


def test_only_what_never_arrived_is_asked_for() -> None:
    deliveries = [
        delivery(1, "lost", 502, minutes=1),
        delivery(2, "arrived", 202),
        delivery(3, "second time lucky", 500),
        delivery(4, "second time lucky", 202, minutes=2),
        delivery(5, "never answered", 0),
    ]
    assert missed(deliveries, since=START) == [5, 1]


def test_an_event_is_asked_for_once_and_by_its_latest_attempt() -> None:
    deliveries = [delivery(7, "lost", 502, minutes=3), delivery(6, "lost", 502)]
    assert missed(deliveries, since=START) == [7]


def test_what_is_refused_again_and_again_is_left_alone() -> None:
    deliveries = [delivery(ident, "refused", 401, minutes=ident) for ident in range(3)]
    assert missed(deliveries, since=START) == []


def test_old_deliveries_are_left_alone() -> None:
    assert missed([delivery(1, "old", 502, minutes=-1)], since=START) == []


@given(
    st.lists(
        st.builds(
            delivery,
            st.integers(1, 10**6),
            st.sampled_from("abcde"),
            st.sampled_from([0, 202, 401, 502]),
            minutes=st.integers(-5, 5),
        ),
        unique_by=lambda each: each.id,
        max_size=12,
    )
)
def test_no_event_that_arrived_is_ever_delivered_again(deliveries: list[Delivery]) -> None:
    asked = missed(deliveries, since=START)
    guids = [next(each.guid for each in deliveries if each.id == ident) for ident in asked]
    assert len(guids) == len(set(guids))
    assert not set(guids) & {each.guid for each in deliveries if each.arrived}
    assert missed(deliveries[::-1], since=START) == asked


def row(ident: int, status: int, *, hours: float) -> dict[str, Any]:
    at = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    return {"id": ident, "guid": f"g{ident}", "delivered_at": at, "status_code": status, "event": "issues"}


async def test_missed_deliveries_of_all_pages_are_asked_for(app_settings: GitHubSettings, stub: Stub) -> None:
    page = {"Link": f'<{stub.url}{LISTED}?per_page=100&cursor=v1_2>; rel="next"'}
    stub.reply(
        "GET",
        LISTED,
        Reply(200, [row(1, 502, hours=1), row(2, 202, hours=1)], page),
        Reply(200, [row(3, 0, hours=2), row(4, 502, hours=30)], page),
    )
    for ident in (1, 3):
        stub.reply("POST", f"{LISTED}/{ident}/attempts", Reply(202, {}))
    assert await redeliver_missed(app_settings, hours=24) == 2
    assert [(seen.verb, seen.path, seen.query.get("cursor")) for seen in stub.seen] == [
        ("GET", LISTED, None),
        ("GET", LISTED, "v1_2"),
        ("POST", f"{LISTED}/3/attempts", None),
        ("POST", f"{LISTED}/1/attempts", None),
    ]


async def test_a_delivery_that_github_forgot_is_passed_over(app_settings: GitHubSettings, stub: Stub) -> None:
    stub.reply("GET", LISTED, Reply(200, [row(1, 502, hours=1), row(2, 502, hours=2)]))
    stub.reply("POST", f"{LISTED}/1/attempts", Reply(202, {}))
    assert await redeliver_missed(app_settings, hours=24) == 1
    assert len(stub.seen) == 3


@pytest.mark.parametrize(("status", "error"), [(401, Forbidden), (502, Unavailable)])
async def test_other_failures_are_raised(
    status: int, error: type[Exception], app_settings: GitHubSettings, stub: Stub
) -> None:
    stub.reply("GET", LISTED, Reply(200, [row(1, 502, hours=1)]))
    stub.reply("POST", f"{LISTED}/1/attempts", Reply(status, {"message": "no"}))
    with pytest.raises(error):
        await redeliver_missed(app_settings, hours=24)
    assert len(stub.seen) == 2


async def test_a_token_has_no_deliveries(stub: Stub) -> None:
    settings = GitHubSettings(api_url=stub.url, token=SecretStr("t"))
    assert await redeliver_missed(settings, hours=24) == 0
    assert stub.seen == []
