"""Prompts are files: Jinja2 with StrictUndefined in a sandboxed environment."""

import hashlib
import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from pipelines.model.protocol import Message

_TAG = re.compile(r"<(/?)(?=(issue|existing|failure|code|conventions)\b)", re.IGNORECASE)


def as_data(text: str) -> str:
    """Text that cannot close or open the tags which mark data in our prompts."""
    return _TAG.sub(r"<\\\1", text.strip("\n"))


@cache
def _environment() -> SandboxedEnvironment:
    folder = str(resources.files("pipelines") / "prompts")
    # Prompts are plain text for a model; HTML escaping would change the words.
    environment = SandboxedEnvironment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters["data"] = as_data
    return environment


def prompt(name: str, /, **values: Any) -> tuple[Message, ...]:
    """System and user turn of the prompt `<strategy>/<role>`; raises UndefinedError for a missing value."""
    strategy = name.split("/")[0]
    system = _environment().get_template(f"{strategy}/system.md.jinja").render()
    user = _environment().get_template(f"{name}.md.jinja").render(**values)
    return Message(role="system", content=system.strip()), Message(role="user", content=user.strip())


def prompts_digest() -> str:
    """SHA-256 over all prompt files, recorded with each Run."""
    digest = hashlib.sha256()
    environment = _environment()
    for name in sorted(environment.list_templates()):
        assert environment.loader is not None  # noqa: S101
        digest.update(name.encode() + environment.loader.get_source(environment, name)[0].encode())
    return digest.hexdigest()
