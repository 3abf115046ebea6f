"""GitHub's own payloads, as they were recorded."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "payloads"


def recorded(name: str, **changes: Any) -> dict[str, Any]:
    """A payload by `event.action`, with some of its top-level fields replaced."""
    payload: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
    return payload | changes
