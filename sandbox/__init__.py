"""Runs untrusted commands. Knows nothing of models or GitHub."""

from sandbox.bubblewrap import BubblewrapBackend
from sandbox.choice import DockerSettings, choose_backend
from sandbox.docker_engine import DockerBackend
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
from sandbox.pytest_report import TestOutcome, TestReport
from sandbox.pytest_runner import run_pytest
from sandbox.warm_pool import PoolSettings

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
