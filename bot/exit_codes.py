"""Exit codes of the command line, and which error means which."""

from enum import IntEnum

from pipelines.errors import BudgetExceeded, InfrastructureError, ModelError, RefusalError
from pipelines.pipeline import ResultStatus
from sandbox import SandboxError


class ExitCode(IntEnum):
    """What the shell sees."""

    GREEN = 0
    FAULT = 1
    BAD_INPUT = 2
    DRAFT = 3
    INTERRUPTED = 130


EXPECTED = (RefusalError, InfrastructureError, ModelError, BudgetExceeded, SandboxError)
"""Errors that are told in one line; anything else is a bug and shows its traceback."""


def code_for_error(error: Exception) -> ExitCode:
    """A refusal is bad input; every other expected error is a fault of something this machine needs."""
    return ExitCode.BAD_INPUT if isinstance(error, RefusalError) else ExitCode.FAULT


def code_for_status(status: ResultStatus) -> ExitCode:
    """Only green is zero."""
    return ExitCode.GREEN if status == "green" else ExitCode.DRAFT
