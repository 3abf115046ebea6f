"""Which hosts are named from notes and messages that a hostile command may have written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.blocked import blocked_hosts
from sandbox.protocol import Output


def hosts(noted: bytes = b"", stderr: str = "") -> tuple[str, ...]:
    return blocked_hosts(noted, Output(head=stderr.encode()))


def test_notes_are_taken_in_order_and_once() -> None:
    noted = b"example.com:443\nExample.COM:443\n8.8.8.8:53\n[2001:DB8::1]:80\n2001:db8::2\nplain-name\n"
    assert hosts(noted) == ("example.com:443", "8.8.8.8:53", "[2001:db8::1]:80", "2001:db8::2", "plain-name")


def test_a_host_with_a_port_makes_the_bare_one_superfluous() -> None:
    assert hosts(b"example.com\nexample.com:80\nother.example\n") == ("example.com:80", "other.example")


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"two words",
        b"https://example.com/",
        b"user@example.com",
        b"a..b",
        b"-a.example",
        b"1.2.3.999",
        b"1234",
        b"example.com:0",
        b"example.com:70000",
        b"\x1b[31mred",
        b"\\x1b[31mred",
        b"\xff\xfe",
        b"a" * 64,
        b"a." * 130 + b"a",
        b"[red](https://evil.example)",
        b"<script>",
        b"x" * 100_000,
    ],
)
def test_what_is_no_plausible_host_is_dropped(note: bytes) -> None:
    assert hosts(note + b"\nexample.com\n") == ("example.com",)


def test_an_international_name_is_given_in_its_ascii_form() -> None:
    assert hosts("bücher.example:80\n".encode()) == ("xn--bcher-kva.example:80",)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("curl: (6) Could not resolve host: api.example.com", "api.example.com"),
        (
            "fatal: unable to access 'https://git.example/x/': Could not resolve host: git.example",
            "git.example",
        ),
        ("wget: unable to resolve host address ‘files.example’", "files.example"),
        ("ssh: Could not resolve hostname git.example: Temporary failure in name resolution", "git.example"),
        ("fatal: unable to look up git.example (port 9418) (Name or service not known)", "git.example"),
        (
            'NameResolutionError("<urllib3.connection.HTTPSConnection object at 0x7f>: '
            "Failed to resolve 'index.example' ([Errno -3] Temporary failure in name resolution)\")",
            "index.example",
        ),
        (
            "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example', port=443): Max",
            "api.example:443",
        ),
        ("Error: getaddrinfo ENOTFOUND registry.example", "registry.example"),
        ("Error: getaddrinfo EAI_AGAIN registry.example", "registry.example"),
        (
            "Err:1 http://deb.example stable InRelease\n  Temporary failure resolving 'deb.example'",
            "deb.example",
        ),
        ("dial tcp: lookup proxy.example on 10.0.0.1:53: no such host", "proxy.example"),
    ],
)
def test_well_known_messages_name_their_host(said: str, named: str) -> None:
    assert hosts(stderr=f"before\n{said}\nafter\n") == (named,)


def test_messages_without_a_host_name_nothing() -> None:
    assert hosts(stderr="lookup table: KeyError: 'x'\nCould not resolve host: \nhost='', port=1\n") == (
        "table",
    )


def test_only_so_many_candidates_are_looked_at() -> None:
    bad = "".join(f"Could not resolve host: ü{number}..x\n" for number in range(1000))
    late = "Could not resolve host: late.example\n"
    assert hosts(stderr=late + bad) == ("late.example",)
    assert hosts(stderr=bad + late) == ()
    assert hosts("".join(f"{number}..x\n" for number in range(1000)).encode(), late) == ("late.example",)


def test_a_host_tried_again_and_again_does_not_hide_the_next() -> None:
    assert hosts(b"a.example:1\n" * 10_000 + b"b.example:2\n") == ("a.example:1", "b.example:2")


def test_notes_and_messages_name_at_most_twenty_hosts() -> None:
    noted = "".join(f"h{number}.example\n" for number in range(1000)).encode()
    assert len(hosts(noted, "Could not resolve host: one-more.example")) == 20


@given(st.binary(max_size=500), st.binary(max_size=500))
def test_whatever_is_written_only_harmless_text_comes_out(noted: bytes, said: bytes) -> None:
    named = blocked_hosts(noted, Output(head=said, tail=said, dropped_bytes=1))
    assert len(named) <= 20
    assert all(re.fullmatch(r"[a-z0-9._:\[\]-]+", host) for host in named)


@given(st.text(alphabet="abc.:[]%-@\n\t 0123456789éß\u200d", max_size=400))
def test_texts_that_look_like_hosts_are_no_way_to_raise(text: str) -> None:
    for host in hosts(text.encode(), f"Could not resolve host: {text}"):
        assert 0 < len(host) <= 262
