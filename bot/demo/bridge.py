"""What the emulated GitHub lacks: git. Pushes to our git server are replayed into it, object by object."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from bot.demo.git_server import NO_COMMIT, RefUpdate
from bot.demo.rest import Rest
from bot.git.process import Git
from bot.git.snapshot import list_tree
from pipelines.errors import InfrastructureError

_PERSON = re.compile(r"(?P<name>.*) <(?P<email>[^>]*)> (?P<seconds>\d+) (?P<sign>[+-])(?P<h>\d\d)(?P<m>\d\d)")


@dataclass(frozen=True)
class Bridge:
    """Shows branches that were pushed on the emulated GitHub, under the names that git gave the commits."""

    root: Path
    """Where the git server keeps its repositories."""
    api_url: str
    owner: Rest
    """The API as someone who may write to the repositories."""
    _shown: set[str] = field(default_factory=set)
    """Objects that are there already."""

    def accepts(self, full_name: str, token: str) -> bool:
        """Whether GitHub lets this token write to the repository: it is tried with an empty file."""
        return Rest(self.api_url, token).tries("POST", f"/repos/{full_name}/git/blobs", {"content": ""})

    def on_push(self, full_name: str, updates: tuple[RefUpdate, ...]) -> None:
        """Repeat a push. Raises InfrastructureError when the emulator does not take it as it is."""
        git = Git(self.root / f"{full_name}.git")
        for update in updates:
            if update.after == NO_COMMIT:
                self.owner.send("DELETE", f"/repos/{full_name}/git/{update.ref}", None)
                continue
            for commit in git.output("rev-list", "--reverse", "--topo-order", update.after).line.splitlines():
                self._show_commit(git, full_name, commit)
            if update.before == NO_COMMIT:
                self._create(full_name, "refs", {"ref": update.ref, "sha": update.after})
            else:
                moved = {"sha": update.after, "force": True}
                self.owner.send("PATCH", f"/repos/{full_name}/git/{update.ref}", moved)

    def _show_commit(self, git: Git, full_name: str, name: str) -> None:
        if name in self._shown:
            return
        commit = _read_commit(git.output("cat-file", "commit", name).stdout)
        entries = list_tree(git, name)
        for blob in {entry.object_name for entry in entries if entry.kind == "blob"} - self._shown:
            content = base64.b64encode(git.output("cat-file", "blob", blob).stdout).decode()
            self._create(full_name, "blobs", {"content": content, "encoding": "base64"}, expected=blob)
        tree = [
            {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.object_name}
            for entry in entries
        ]
        self._create(full_name, "trees", {"tree": tree}, expected=commit.tree)
        self._create(full_name, "commits", commit.as_request(), expected=name)

    def _create(
        self, full_name: str, kind: str, body: Mapping[str, object], *, expected: str | None = None
    ) -> None:
        answer = self.owner.send("POST", f"/repos/{full_name}/git/{kind}", body)
        if expected is None:
            return
        if answer["sha"] != expected:
            raise InfrastructureError(
                f"the emulated GitHub stored {expected[:12]} of {full_name} differently ({kind}); "
                "it cannot hold this repository"
            )
        self._shown.add(expected)


class _Commit(NamedTuple):
    """A commit as git stores it."""

    tree: str
    parents: tuple[str, ...]
    author: str
    committer: str
    message: str

    def as_request(self) -> dict[str, object]:
        """The same in the words of the REST API."""
        return {
            "message": self.message,
            "tree": self.tree,
            "parents": list(self.parents),
            "author": _person(self.author),
            "committer": _person(self.committer),
        }


def _read_commit(content: bytes) -> _Commit:
    head, _, message = content.decode(errors="replace").partition("\n\n")
    lines = [line.split(" ", 1) for line in head.splitlines() if not line.startswith(" ")]
    fields = {line[0]: line[-1] for line in lines}
    parents = tuple(line[-1] for line in lines if line[0] == "parent")
    return _Commit(fields["tree"], parents, fields["author"], fields["committer"], message)


def _person(line: str) -> dict[str, str]:
    found = _PERSON.fullmatch(line)
    if found is None:
        raise InfrastructureError(f"the emulated GitHub cannot show a commit by {line!r}")
    offset = timedelta(hours=int(found["h"]), minutes=int(found["m"])) * (-1 if found["sign"] == "-" else 1)
    when = datetime.fromtimestamp(int(found["seconds"]), timezone(offset))
    return {"name": found["name"], "email": found["email"], "date": when.isoformat()}
