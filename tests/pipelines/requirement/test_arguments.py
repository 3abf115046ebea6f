import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.requirement.arguments import accepts, call_from, required
from pipelines.requirement.expressions import parse_expression
from pipelines.requirement.reading import Reading
from pipelines.requirement.types import Signature

_TOP = Signature(name="top", kind="function", stub="def top(nums, k): ...", parameters=("nums", "k"))
_PAD = Signature(name="pad", kind="function", stub="def pad(s, width=3, *, fill=' '): ...")
_PAD = _PAD.model_copy(update={"parameters": ("s", "width", "fill")})


def call(text: str, signature: Signature = _TOP) -> str | None:
    return call_from(text, signature, Reading({signature.name: signature}))


@pytest.mark.parametrize(
    "text",
    [
        "nums = [1, 2], k = 3",
        "k = 3, nums = [1, 2]",
        "nums: [1, 2]\nk: 3",
        "[1, 2], 3",
        "[1, 2]\n3",
        "`nums = [1, 2], k = 3`",
        "numbers = [1, 2], count = 3",
        "nums=[1, 2]; k=3;",
        "top([1, 2], 3)",
    ],
)
def test_inputs_become_a_call(text: str) -> None:
    assert call(text) == "top([1, 2], 3)"


@pytest.mark.parametrize(
    "text",
    ["", "[1, 2]", "1, 2, 3", "nums = [1, 2]", "nums = x, k = 3", "two numbers", "a = 1, b = 2, c = 3"],
)
def test_inputs_that_do_not_fit(text: str) -> None:
    assert call(text) is None


def test_defaults_and_keywords() -> None:
    assert call("'a'", _PAD) == "pad('a')"
    assert call("s = 'a', fill = '-'", _PAD) == "pad(s='a', fill='-')"
    assert call("width = 2, s = 'a'", _PAD) == "pad('a', 2)"
    assert required(_PAD) == 1
    assert [accepts(_PAD, count) for count in range(5)] == [False, True, True, True, False]


def test_a_name_without_a_stub_needs_all_its_parameters() -> None:
    bare = Signature(name="f", kind="function", parameters=("a", "b"))
    assert required(bare) == 2
    assert not accepts(Signature(name="f", kind="function"), 0)


@given(
    st.lists(
        st.integers() | st.text(max_size=5) | st.lists(st.booleans(), max_size=3), min_size=2, max_size=2
    )
)
def test_written_values_come_back_as_the_arguments(values: list[object]) -> None:
    for text in (", ".join(map(repr, values)), f"nums = {values[0]!r}, k = {values[1]!r}"):
        written = call(text)
        if written is not None:
            assert parse_expression(written) is not None
            assert eval(written, {"top": lambda nums, k: [nums, k]}) == values


@given(st.text(max_size=80))
def test_any_text_gives_a_call_or_none(text: str) -> None:
    written = call(text)
    assert written is None or parse_expression(written) is not None
