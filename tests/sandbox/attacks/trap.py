"""A program that leaves files behind, and what of them may come back, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """A program that leaves files under /work, and what of them may come back."""

    name: str
    program: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Exactly these come back."""
    some_of: Mapping[str, bytes] = field(default_factory=dict)
    """Of these as many come back as `some_count` says, in whatever order a backend looks at them."""
    some_count: int = 0
    either: Mapping[str, bytes] = field(default_factory=dict)
    """Each of these comes back or is refused by name: the host's side reads what the box's user cannot."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """At least these names are refused, with these words in the reason."""
    refused_count: int | None = None
