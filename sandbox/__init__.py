"""Runs untrusted commands. Knows nothing of models or GitHub."""

from sandbox.bubblewrap import BubblewrapBackend
from sandbox.choice import choose_backend
from sandbox.docker_engine import DockerBackend
from sandbox.errors import SandboxBroken, SandboxError, SandboxUnavailable
from sandbox.fake import FakeBackend, FakeCall, FakeSandbox
from sandbox.protocol import (
    WORK_DIR,
    Collected,
    ExecResult,
    LimitKind,
    Limits,
    OnOutput,
    Output,
    Sandbox,
    SandboxBackend,
    Usage,
)
from sandbox.pytest_report import TestOutcome, TestReport
from sandbox.pytest_runner import run_pytest

__all__ = [
    "WORK_DIR",
    "BubblewrapBackend",
    "Collected",
    "DockerBackend",
    "ExecResult",
    "FakeBackend",
    "FakeCall",
    "FakeSandbox",
    "LimitKind",
    "Limits",
    "OnOutput",
    "Output",
    "Sandbox",
    "SandboxBackend",
    "SandboxBroken",
    "SandboxError",
    "SandboxUnavailable",
    "TestOutcome",
    "TestReport",
    "Usage",
    "choose_backend",
    "run_pytest",
]
