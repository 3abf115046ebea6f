import io
import json
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import structlog
from structlog.contextvars import bound_contextvars

from bot.service.logging import configure_logging
from bot.speech.redaction import Redactor
from tests.bot.service.scratch import PAYLOAD, MemoryStore, make_app, served, signed

PLANTED = "planted-secret-of-this-test"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root, dbos = logging.getLogger(), logging.getLogger("dbos")
    before = root.handlers[:], root.level, dbos.handlers[:], dbos.propagate
    yield
    root.handlers[:], root.level, dbos.handlers[:], dbos.propagate = before
    logging.captureWarnings(False)
    structlog.reset_defaults()


@pytest.fixture
def written() -> io.StringIO:
    stream = io.StringIO()
    configure_logging(Redactor([PLANTED]), stream=stream)
    return stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def fail() -> None:
    try:
        raise ValueError(f"inner {PLANTED}")
    except ValueError as error:
        raise RuntimeError(f"outer {PLANTED}") from error


def test_a_line_is_one_json_object_with_time_level_and_place(written: io.StringIO) -> None:
    structlog.stdlib.get_logger("bot.place").info("two\nlines", number=1, yes=True, nothing=None)
    (line,) = lines(written)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "two\nlines",
        "level": "info",
        "logger": "bot.place",
        "number": 1,
        "yes": True,
        "nothing": None,
    }


def test_what_is_bound_is_in_the_lines_of_both_kinds_of_loggers(written: io.StringIO) -> None:
    with bound_contextvars(delivery="d-1", job="o/r#1/1", repo="o/r"):
        structlog.stdlib.get_logger("a").info("one")
        logging.getLogger("b").warning("two %s", "words")
    first, second = lines(written)
    assert {(line["delivery"], line["job"], line["repo"]) for line in (first, second)} == {
        ("d-1", "o/r#1/1", "o/r")
    }
    assert second["event"] == "two words"


def test_a_secret_shows_nowhere_in_a_line(written: io.StringIO) -> None:
    class Holder:
        def __repr__(self) -> str:
            return f"Holder({PLANTED})"

    log = structlog.stdlib.get_logger("bot")
    with bound_contextvars(repo=PLANTED):
        log.info(f"text {PLANTED}", value=PLANTED, **{f"key_{PLANTED}": 1})
        log.info("format %s", PLANTED)
        log.info("nested", inside={"list": [PLANTED, (PLANTED,)], PLANTED: {PLANTED}})
        log.info("objects", holder=Holder(), raw=PLANTED.encode(), error=ValueError(PLANTED))
        log.info("stack", stack_info=True)
    assert PLANTED not in written.getvalue()
    assert "[redacted]" in written.getvalue()
    assert len(lines(written)) == 5


@pytest.mark.parametrize("name", ["bot", "dbos", "uvicorn.error", "asyncio", "some.library"])
def test_a_secret_shows_in_no_librarys_lines_either(written: io.StringIO, name: str) -> None:
    log = logging.getLogger(name)
    log.warning("format %s %r", PLANTED, {"k": PLANTED})
    try:
        fail()
    except RuntimeError:
        log.exception("it failed")
    first, second = lines(written)
    assert "[redacted]" in first["event"]
    assert "Traceback" in second["exception"]
    assert second["exception"].count("[redacted]") == 2
    assert PLANTED not in written.getvalue()


def test_a_secret_with_quotes_and_line_ends_is_found_before_it_is_escaped() -> None:
    secret, stream = 'first "line"\nsecond\\line', io.StringIO()
    configure_logging(lambda text: text.replace(secret, "[redacted]"), stream=stream)
    logging.getLogger("bot").warning("a key: %s", secret)
    assert lines(stream)[0]["event"] == "a key: [redacted]"


def test_a_terminal_gets_text_without_secrets_or_local_variables() -> None:
    stream = Terminal()
    configure_logging(Redactor([PLANTED]), stream=stream)
    local = "a local variable"
    try:
        fail()
    except RuntimeError:
        structlog.stdlib.get_logger("bot").exception(f"failed with {PLANTED}")
    text = stream.getvalue()
    assert "failed with [redacted]" in text
    assert "RuntimeError: outer [redacted]" in text
    assert PLANTED not in text
    assert local not in text
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(text)


def test_a_record_that_cannot_be_written_shows_no_arguments(
    written: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    # Without the handlers of pytest, which raise.
    root.handlers[:] = [handler for handler in root.handlers if getattr(handler, "stream", None) is written]
    logging.getLogger("some.library").warning("needs a number: %d", PLANTED)
    assert "some.library" in lines(written)[0]["event"]
    assert PLANTED not in written.getvalue() + capsys.readouterr().err


def test_warnings_come_as_lines(written: io.StringIO) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn(f"old {PLANTED}", DeprecationWarning, stacklevel=1)
    assert "old [redacted]" in lines(written)[0]["event"]
    logging.captureWarnings(False)


def test_dbos_adds_no_handler_of_its_own(written: io.StringIO) -> None:
    from dbos._logger import dbos_logger, init_logger

    init_logger()
    dbos_logger.warning("a line")
    assert [line["event"] for line in lines(written)] == ["a line"]
    assert not any(isinstance(handler, logging.StreamHandler) for handler in dbos_logger.handlers)


def test_configured_twice_a_line_comes_once(written: io.StringIO) -> None:
    configure_logging(Redactor([PLANTED]), stream=written)
    logging.getLogger("bot").warning("a line")
    assert len(lines(written)) == 1


def test_less_than_the_level_is_left_out(written: io.StringIO) -> None:
    structlog.stdlib.get_logger("bot").debug("no")
    logging.getLogger("bot").debug("no")
    assert not written.getvalue()


async def test_the_services_log_never_holds_a_secret(
    store: MemoryStore, written: io.StringIO, tmp_path: Any
) -> None:
    body = PAYLOAD.replace(b"labeled", PLANTED.encode())
    async with served(make_app(store, tmp_path)) as url, httpx2.AsyncClient() as client:
        await client.post(f"{url}/webhook", content=body, headers=signed(body, delivery=PLANTED))
        await client.post(f"{url}/webhook", content=body, headers={"X-GitHub-Event": PLANTED})
        store.error = KeyError(PLANTED)
        await client.post(f"{url}/webhook", content=body, headers=signed(body))
        failed = await client.get(f"{url}/metrics")
    assert (failed.status_code, PLANTED in failed.text) == (500, False)
    assert PLANTED not in written.getvalue()
    answered = [line for line in lines(written) if line["event"] == "delivery answered"]
    assert [line["status"] for line in answered] == [202, 401, 500]
    assert answered[0]["delivery"] == "[redacted]"
    bugs = [line for line in lines(written) if "Traceback" in line.get("exception", "")]
    assert len(bugs) == 2
    assert bugs[0]["delivery"] == "d-1"


def test_the_stream_is_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert sys.stderr is not None
    configure_logging(Redactor())
    logging.getLogger("bot").warning("a line")
    captured = capsys.readouterr()
    assert json.loads(captured.err)["event"] == "a line"
    assert not captured.out
