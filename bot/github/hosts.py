"""Where one GitHub lies: its API, its pages and its git repositories, all from the API's URL."""

from urllib.parse import urlsplit

from pipelines.errors import RefusalError

_ENTERPRISE_SUFFIX = "/api/v3"


def api_root(api_url: str) -> str:
    """The API's URL without a final slash. Raises RefusalError unless it is an http(s) URL of a host."""
    parts = urlsplit(api_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
        raise RefusalError(
            f"github.api_url is {parts.geturl()!r}: it must look like https://api.github.com, "
            "or https://HOST/api/v3 for GitHub Enterprise Server"
        )
    return api_url.rstrip("/")


def web_root(api_url: str) -> str:
    """The root of the pages and repositories that belong to an API."""
    parts = urlsplit(api_root(api_url))
    host = parts.netloc
    if host == "api.github.com" or (host.startswith("api.") and host.endswith(".ghe.com")):
        return f"{parts.scheme}://{host.removeprefix('api.')}"
    return f"{parts.scheme}://{host}{parts.path.removesuffix(_ENTERPRISE_SUFFIX)}"
