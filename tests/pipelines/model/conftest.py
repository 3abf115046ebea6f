"""Shared by the model tests: requests, and no waiting between attempts."""

from collections.abc import Iterator

import pytest
import stamina

from pipelines.model.protocol import Message, ModelRequest


@pytest.fixture(autouse=True)
def _no_retry_waits() -> Iterator[None]:
    with stamina.set_testing(True, attempts=3):
        yield


@pytest.fixture
def request_() -> ModelRequest:
    return ModelRequest(role="executor", messages=(Message(role="user", content="Write f."),), max_tokens=64)
