"""What every behaviour works with."""

from dataclasses import dataclass

from bot.github.protocol import GitHub
from bot.jobs.protocol import Jobs
from bot.runs import RunStore
from bot.settings import GitHubSettings, ServiceSettings


@dataclass(frozen=True)
class Bot:
    """The bot's hands: GitHub and its Jobs, and what its owner has set."""

    github: GitHub
    jobs: Jobs
    github_settings: GitHubSettings
    service_settings: ServiceSettings
    offered_models: frozenset[str] = frozenset()
    """Names that a repository's configuration may choose a model by."""
    runs: RunStore | None = None
    """Where a Run's decisions are looked up; None explains by the outcome alone."""
