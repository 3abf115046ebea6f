"""Where the gateway asks: other hosts, other paths, other certificates, or nobody there."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.github.errors import Rejected, Unavailable
from bot.github.pygithub import PyGitHub
from bot.github.types import RepoRef
from bot.settings import GitHubSettings
from pipelines.errors import InfrastructureError
from tests.bot.github.certificate import self_signed
from tests.bot.github.conftest import REPO
from tests.bot.github.samples import COMMENTS, ROOT, comment
from tests.bot.github.stub import Reply, Stub


async def test_a_server_that_is_not_there(stub: Stub) -> None:
    url = "http://127.0.0.1:9"
    github = PyGitHub(GitHubSettings(api_url=url, token=SecretStr("t"), write_seconds=0))
    with pytest.raises(Unavailable, match=r"comment on #7.*github\.api_url") as raised:
        await github.create_comment(REPO, 7, "x")
    assert isinstance(raised.value, InfrastructureError)


async def test_enterprise_server_has_its_api_below_a_path(stub: Stub) -> None:
    settings = GitHubSettings(api_url=f"{stub.url}/api/v3/", token=SecretStr("t"), write_seconds=0)
    github = PyGitHub(settings)
    stub.reply("POST", f"/api/v3{COMMENTS}", Reply(201, comment()))
    page = {"Link": f'<{stub.url}/api/v3{COMMENTS}?page=2>; rel="next"'}
    stub.reply("GET", f"/api/v3{COMMENTS}", Reply(200, [comment(1)], page), Reply(200, [comment(2)]))
    await github.create_comment(REPO, 7, "x")
    assert [each.id for each in await github.comments(REPO, 7)] == [1, 2]
    assert (await github.push_access(REPO)).url == f"{stub.url}/octo/repo.git"


async def test_the_next_page_is_never_asked_of_another_host(as_token: PyGitHub, stub: Stub) -> None:
    page = {"Link": f'<https://elsewhere.example{COMMENTS}?page=2>; rel="next"'}
    stub.reply("GET", COMMENTS, Reply(200, [comment(1)], page), Reply(200, [comment(2)]))
    assert [each.id for each in await as_token.comments(REPO, 7)] == [1, 2]


async def test_a_redirection_to_another_host_is_refused(as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", ROOT, Reply(301, {}, {"Location": "http://elsewhere.example/repositories/1"}))
    with pytest.raises(Rejected, match=r"elsewhere\.example.*github\.api_url"):
        await as_token.repository(REPO)


async def test_git_may_have_a_root_of_its_own(stub: Stub) -> None:
    settings = GitHubSettings(api_url=stub.url, git_url="http://127.0.0.1:8/", token=SecretStr("t"))
    access = await PyGitHub(settings).push_access(RepoRef(owner="Octo", name="Repo"))
    assert access.url == "http://127.0.0.1:8/Octo/Repo.git"


async def test_a_certificate_of_ones_own_is_trusted_only_when_named(tmp_path: Path) -> None:
    bundle = self_signed(tmp_path)
    with Stub(certificate=bundle).serving() as stub:
        stub.reply("GET", COMMENTS, Reply(200, [comment()]))
        known = GitHubSettings(api_url=stub.url, token=SecretStr("t"), ca_bundle=bundle)
        assert len(await PyGitHub(known).comments(REPO, 7)) == 1
        unknown = GitHubSettings(api_url=stub.url, token=SecretStr("t"))
        with pytest.raises(Unavailable, match=r"github\.ca_bundle"):
            await PyGitHub(unknown).comments(REPO, 7)
