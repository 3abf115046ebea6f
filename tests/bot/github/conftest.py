"""A stub GitHub, and the gateway as an App and as a token's owner."""

from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import SecretStr

from bot.github.pygithub import PyGitHub
from bot.github.types import RepoRef
from bot.settings import GitHubSettings
from tests.bot.github.stub import Stub

APP_ID = 4711
REPO = RepoRef(owner="octo", name="repo")


@pytest.fixture(scope="session")
def private_key() -> SecretStr:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    return SecretStr(pem.decode())


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub().serving() as serving:
        yield serving


@pytest.fixture
def as_token(stub: Stub) -> PyGitHub:
    """The gateway with a personal token and without pauses."""
    return PyGitHub(GitHubSettings(api_url=stub.url, token=SecretStr("github_pat_1"), write_seconds=0))


@pytest.fixture
def app_settings(stub: Stub, private_key: SecretStr) -> GitHubSettings:
    return GitHubSettings(api_url=stub.url, app_id=APP_ID, private_key=private_key, write_seconds=0)


@pytest.fixture
def as_app(app_settings: GitHubSettings) -> PyGitHub:
    return PyGitHub(app_settings)


@pytest.fixture(params=["token", "app"])
def gateway(request: pytest.FixtureRequest) -> PyGitHub:
    """The gateway, once as a token's owner and once as an App."""
    found: PyGitHub = request.getfixturevalue({"token": "as_token", "app": "as_app"}[request.param])
    return found
