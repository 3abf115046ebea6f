"""What a Job works with."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.behaviours.context import Bot
from bot.github.protocol import GitHub
from bot.jobs.protocol import Jobs
from bot.progress import Display
from bot.runs import RunStore
from bot.settings import Settings
from bot.solving import Equipment

OpenEquipment = Callable[[Settings, Display], Equipment]
"""Opens model and sandbox of these settings and shows what it does."""


@dataclass(frozen=True)
class Desk:
    """The bot's hands, the owner's settings, and where this machine keeps runs and clones."""

    bot: Bot
    settings: Settings
    runs: RunStore
    clones: Path
    equipment: OpenEquipment
    secrets: tuple[str, ...] = ()
    """The process's own, which nothing that is published may hold."""

    @property
    def github(self) -> GitHub:
        """The gateway."""
        return self.bot.github

    @property
    def jobs(self) -> Jobs:
        """This Job and the others."""
        return self.bot.jobs
