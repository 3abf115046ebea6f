import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.events.signature import is_signature, sign, signature_matches

# From GitHub's documentation of webhooks.
SECRET = "It's a Secret to Everybody"
BODY = b"Hello, World!"
SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_githubs_own_example() -> None:
    assert sign(SECRET, BODY) == SIGNATURE
    assert signature_matches(SECRET, BODY, SIGNATURE)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "sha256=",
        "sha256",
        SIGNATURE.removeprefix("sha256="),
        SIGNATURE.replace("sha256", "sha1"),
        SIGNATURE.replace("sha256", "SHA256"),
        SIGNATURE.upper(),
        SIGNATURE[:-1],
        SIGNATURE + "0",
        SIGNATURE + "\n",
        " " + SIGNATURE,
        f"{SIGNATURE},{SIGNATURE}",
        "sha256=" + "é" * 64,
        "sha256=" + "٣" * 64,
        "sha256=\ud800" + "0" * 63,
    ],
)
def test_what_is_not_a_signature_never_matches(value: str | None) -> None:
    assert not is_signature(value)
    assert not signature_matches(SECRET, BODY, value)


@given(st.text(), st.binary())
def test_what_is_signed_matches(secret: str, body: bytes) -> None:
    assert is_signature(sign(secret, body))
    assert signature_matches(secret, body, sign(secret, body))


@given(st.text(), st.binary(), st.binary())
def test_another_body_does_not_match(secret: str, body: bytes, other: bytes) -> None:
    assert signature_matches(secret, other, sign(secret, body)) == (other == body)


@given(st.text(max_size=64), st.text(max_size=64), st.binary())
def test_another_secret_does_not_match(secret: str, other: str, body: bytes) -> None:
    # HMAC pads short keys with zeros, so these two are the same key.
    same = secret.rstrip("\0") == other.rstrip("\0")
    assert same or not signature_matches(other, body, sign(secret, body))


@given(st.binary(), st.integers(min_value=7, max_value=70), st.sampled_from("0123456789abcdef"))
def test_any_changed_digit_does_not_match(body: bytes, place: int, digit: str) -> None:
    right = sign(SECRET, body)
    changed = right[:place] + digit + right[place + 1 :]
    assert signature_matches(SECRET, body, changed) == (changed == right)


@given(st.text())
def test_any_text_as_header_is_only_a_mismatch(value: str) -> None:
    assert not signature_matches(SECRET, BODY, value)
