import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.speech.markers import MARKER, STATUS_MARKER, data_marker, is_ours, issue_of, read_data

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)


def test_our_texts_are_known_and_those_that_quote_us_are_not() -> None:
    assert is_ours(f"{MARKER}{STATUS_MARKER}\ntext")
    assert is_ours(f"\n {MARKER}")
    assert not is_ours(f"> {MARKER}\n> text\n\n/issuewright retry")
    assert not is_ours("/issuewright retry")
    assert not is_ours("")


def test_a_pull_request_tells_its_issue() -> None:
    assert data_marker(issue=7) == "<!-- issuewright:issue=7 -->"
    assert issue_of("text\n\nCloses #7\n\n<!-- issuewright:issue=7 -->\n") == 7
    assert issue_of("Closes #7") is None
    assert issue_of(MARKER + STATUS_MARKER) is None


def test_the_bots_own_number_comes_last_and_counts() -> None:
    assert issue_of("<!-- issuewright:issue=1 --> people's text\n\n<!-- issuewright:issue=7 -->") == 7


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("<!--issuewright:issue=7-->", {"issue": 7}),
        ("<!--  issuewright:issue=7 job=2   -->", {"issue": 7, "job": 2}),
        ("<!-- issuewright:issue=seven -->", {}),
        ("<!-- issuewright:issue=-7 -->", {}),
        ("<!-- issuewright:issue=7.5 -->", {}),
        ("<!-- issuewright:issue=7x job=3 -->", {"job": 3}),
        ("<!-- issuewright:issue=99999999999999999999999 -->", {}),
        ("<!-- other:issue=7 -->", {}),
        ("<!-- issuewright:issue=7", {}),
        ("<!-- issuewright:issue=٧ -->", {}),
    ],
)
def test_what_is_no_number_of_ours_is_left_out(text: str, data: dict[str, int]) -> None:
    assert read_data(text) == data


@given(
    st.dictionaries(NAMES, st.integers(0, 10**17), min_size=1, max_size=4),
    st.text(max_size=50),
    st.text(max_size=50),
)
def test_numbers_come_back_from_any_surroundings(numbers: dict[str, int], before: str, after: str) -> None:
    assert read_data(before + data_marker(**numbers) + after).items() >= numbers.items()


@given(st.text(alphabet="<!- isuewrght:=7>\n", max_size=200))
def test_nothing_but_small_numbers_is_ever_read(text: str) -> None:
    assert all(0 <= number < 10**18 for number in read_data(text).values())


def test_long_texts_take_no_time() -> None:
    assert read_data("<!-- issuewright:" + "a=1 " * 300_000) == {}
    assert read_data("<!-- issuewright:" * 100_000) == {}
