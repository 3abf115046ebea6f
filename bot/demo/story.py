"""The whole story on one machine: a person labels an issue, the real service answers with a pull request."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.demo.emulator import World
from bot.demo.local_github import LocalGitHub, run_local_github
from bot.demo.service_process import Service, free_port, run_service
from bot.demo.watching import News, Seen, look, news
from bot.sample import create_sample
from bot.settings import ServiceSettings

_LOOK_SECONDS = 0.8
"""The emulator answers 5,000 requests an hour, as GitHub does."""

Teller = Callable[[News], None]


@dataclass(frozen=True)
class Stage:
    """A GitHub with the sample repository, and the service that works for it."""

    github: LocalGitHub
    service: Service


@contextmanager
def set_up(
    folder: Path, *, settings: Mapping[str, str] | None = None, cache: Path | None = None
) -> Iterator[Stage]:
    """Set the stage in an empty folder, with these variables for the service, until the block ends.

    Raises RefusalError for a folder that is not empty or without Node, InfrastructureError when something
    does not start.
    """
    sample = create_sample(folder / "sample").parent / "teatime"
    port = free_port()
    world = World(webhook_url=f"http://127.0.0.1:{port}/webhook")
    with run_local_github(world, folder / "remotes", cache=cache) as github:
        github.push(sample)
        with run_service(github, folder, port=port, settings=settings) as service:
            yield Stage(github, service)


def play(stage: Stage, issue_text: str, tell: Teller) -> Seen:
    """Open and label an issue (its title is the first line), and tell what happens until the bot is done.

    Raises InfrastructureError when the service ends before.
    """
    world = stage.github.emulator.world
    owner = stage.github.emulator.as_person(world.owner)
    issues = f"/repos/{world.full_name}/issues"
    title, _, body = issue_text.partition("\n")
    created = owner.send("POST", issues, {"title": title.lstrip("# "), "body": body.strip()})
    number, label = int(created["number"]), ServiceSettings().label
    tell(News(f"{world.owner} opens issue #{number}: {created['title']}", created["body"]))
    seen = look(owner, world.full_name, number)
    owner.send("POST", f"{issues}/{number}/labels", {"labels": [label]})
    tell(News(f"{world.owner} puts the label `{label}` on it"))
    while not seen.over:
        stage.service.check()
        time.sleep(_LOOK_SECONDS)
        now = look(owner, world.full_name, number, seen)
        for one in news(seen, now):
            tell(one)
        seen = now
    return seen
