"""Runs untrusted commands. Knows nothing of models or GitHub."""

from sandbox.bubblewrap.backend import BubblewrapBackend
from sandbox.choice import DockerSettings, choose_backend
from sandbox.docker.backend import DockerBackend
from sandbox.docker.pool import PoolSettings
from sandbox.errors import SandboxBroken, SandboxError, SandboxUnavailable, SetupFailed
from sandbox.fake import FakeBackend, FakeCall, FakeSandbox
from sandbox.protocol import (
    PACKAGES_DIR,
    WORK_DIR,
    Collected,
    ExecResult,
    LimitKind,
    Limits,
    OnOutput,
    Output,
    Packages,
    Sandbox,
    SandboxBackend,
    Usage,
)
from sandbox.testing.outcome import FileCoverage, TestOutcome, TestReport
from sandbox.testing.runner import run_pytest

__all__ = [
    "PACKAGES_DIR",
    "WORK_DIR",
    "BubblewrapBackend",
    "Collected",
    "DockerBackend",
    "DockerSettings",
    "ExecResult",
    "FakeBackend",
    "FakeCall",
    "FakeSandbox",
    "FileCoverage",
    "LimitKind",
    "Limits",
    "OnOutput",
    "Output",
    "Packages",
    "PoolSettings",
    "Sandbox",
    "SandboxBackend",
    "SandboxBroken",
    "SandboxError",
    "SandboxUnavailable",
    "SetupFailed",
    "TestOutcome",
    "TestReport",
    "Usage",
    "choose_backend",
    "run_pytest",
]
