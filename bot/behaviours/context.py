"""What every behaviour works with."""

from dataclasses import dataclass

from bot.github.protocol import GitHub
from bot.jobs.protocol import Jobs
from bot.settings import GitHubSettings, ServiceSettings


@dataclass(frozen=True)
class Bot:
    """The bot's hands: GitHub and its Jobs, and what its owner has set."""

    github: GitHub
    jobs: Jobs
    github_settings: GitHubSettings
    service_settings: ServiceSettings
