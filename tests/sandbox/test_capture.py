"""The first and last bytes are kept, whatever the chunks."""

from hypothesis import given
from hypothesis import strategies as st

from sandbox.capture import Capture


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(min_value=1, max_value=64))
def test_head_tail_and_gap_make_up_the_stream(chunks: list[bytes], limit: int) -> None:
    capture = Capture(limit)
    for chunk in chunks:
        capture.feed(chunk)
    whole, output = b"".join(chunks), capture.output()
    assert whole.startswith(output.head)
    assert whole.endswith(output.tail)
    assert len(output.head) + len(output.tail) + output.dropped_bytes == len(whole)
    assert len(output.head) + len(output.tail) == min(len(whole), limit)
    assert capture.overflowed is (len(whole) > limit)


def test_the_text_says_where_bytes_are_missing() -> None:
    capture = Capture(4)
    capture.feed(b"abcdefgh")
    assert capture.output().text == "ab\n[... 4 bytes dropped ...]\ngh"
