"""What a git server's refusal means and who must react."""

import re

from bot.github.errors import Forbidden, NotFound, Unavailable
from pipelines.errors import InfrastructureError, PipelineError, RefusalError

_MEANINGS: tuple[tuple[str, type[PipelineError], str], ...] = (
    (
        r"not our ref|unadvertised object|couldn't find remote ref",
        NotFound,
        "the commit is no longer there; start again from the branch as it is now",
    ),
    (
        r"returned error: 403|write access .*not granted|permission to .* denied|"
        r"not permitted|access denied|disabled by the administrator",
        Forbidden,
        "give the App or token `contents: write` on this repository (`read` is enough to clone)",
    ),
    (
        r"returned error: 401|authentication failed|could not read (username|password)|prompts disabled",
        Forbidden,
        "the server does not take the credentials: check that the App is installed there, or renew the token",
    ),
    (
        r"returned error: 404|repository .*not found|not found:|does not appear to be a git repository",
        NotFound,
        "the repository is not there, or this App or token may not see it",
    ),
    (
        r"returned error: 30\d|redirect",
        NotFound,
        "the server answers with a redirect, which is not followed: the repository may have a new name",
    ),
    (
        r"certificate|SSL (peer|CA)",
        RefusalError,
        "the server's certificate is not trusted: name its authority's file as `github.ca_bundle`",
    ),
    (
        r"returned error: (429|5\d\d)|could ?n[o']t (resolve|connect)|failed to connect|connection|"
        r"timed? ?out|early EOF|hung up|RPC failed|disconnect|curl|TLS|SSL|too slow|internal server error",
        Unavailable,
        "the server cannot be reached or fails; try again later",
    ),
)


def remote_error(operation: str, url: str, message: str) -> PipelineError:
    """The error for what git said. Plain InfrastructureError means: nothing that the network explains."""
    said = " ".join(message.split()) or "no message"
    for pattern, kind, advice in _MEANINGS:
        if re.search(pattern, message, re.IGNORECASE):
            return kind(f"git cannot {operation} {url}: {advice}. Git said: {said}")
    return InfrastructureError(f"git cannot {operation} {url}: {said}. Check the disk, then run again")
