"""Logs of everything in this process: JSON lines, or text on a terminal; secrets taken out last of all."""

import logging
import sys
from collections.abc import Callable, Mapping
from typing import TextIO

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.types import EventDict, Processor, WrappedLogger

Redact = Callable[[str], str]


def configure_logging(redact: Redact, *, stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Send structlog's and the standard library's records to the stream (standard error).

    Every string, exception texts included, goes through `redact`. Call it before DBOS starts, which else adds
    a handler of its own.
    """
    target = stream or sys.stderr
    handler = _Handler(target)
    handler.setFormatter(_formatter(redact, terminal=target.isatty()))
    root = logging.getLogger()
    for earlier in [other for other in root.handlers if isinstance(other, _Handler)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(level)
    logging.captureWarnings(True)
    _keep_from_own_handlers("dbos")
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared_processors(),
            ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


class _Handler(logging.StreamHandler[TextIO]):
    """Says that a record could not be written, and no more: the default prints its raw arguments."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Note the place."""
        self.stream.write(f'{{"event": "a log record of {record.name} could not be written"}}\n')


def _shared_processors() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]


def _formatter(redact: Redact, *, terminal: bool) -> logging.Formatter:
    renderer: Processor = (
        structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    return ProcessorFormatter(
        foreign_pre_chain=_shared_processors(),
        processors=[
            ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _redacting(redact),
            renderer,
        ],
    )


def _redacting(redact: Redact) -> Processor:
    def process(_logger: WrappedLogger, _method: str, event_dict: EventDict) -> EventDict:
        return {redact(str(key)): _redacted(value, redact) for key, value in event_dict.items()}

    return process


def _redacted(value: object, redact: Redact) -> object:
    """The value as JSON has it, without secrets; what JSON does not have, as its repr."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): _redacted(item, redact) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redacted(item, redact) for item in value]
    return redact(repr(value))


def _keep_from_own_handlers(name: str) -> None:
    """A logger that has a handler already gets none of its library's, and its records come to the root."""
    logger = logging.getLogger(name)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    logger.addHandler(logging.NullHandler())
    logger.propagate = True
