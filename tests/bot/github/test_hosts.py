import pytest

from bot.github.hosts import api_root, web_root
from pipelines.errors import RefusalError


@pytest.mark.parametrize(
    ("api_url", "web"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://api.github.com/", "https://github.com"),
        ("https://github.example.com/api/v3", "https://github.example.com"),
        ("https://github.example.com:8443/api/v3/", "https://github.example.com:8443"),
        ("https://api.octo.ghe.com", "https://octo.ghe.com"),
        ("https://api.example.com/api/v3", "https://api.example.com"),
        ("http://127.0.0.1:4101", "http://127.0.0.1:4101"),
    ],
)
def test_pages_and_repositories_lie_beside_the_api(api_url: str, web: str) -> None:
    assert web_root(api_url) == web


@pytest.mark.parametrize(
    "api_url", ["", "api.github.com", "ftp://host", "https://", "https://me@host", "https://host?x=1"]
)
def test_what_is_no_api_is_refused(api_url: str) -> None:
    with pytest.raises(RefusalError, match=r"github\.api_url.*https://HOST/api/v3"):
        api_root(api_url)
