"""Spells titles and paths as Python names."""

import keyword
import re
import unicodedata

_MAX_SLUG = 50


def snake_slug(text: str, fallback: str = "generated") -> str:
    """An ASCII `snake_case` identifier of at most 50 characters, never a keyword.

    Text without any ASCII letter or digit gives the fallback.
    """
    ascii_text = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "_", ascii_text).strip("_") or fallback
    if slug[0].isdigit():
        slug = f"{fallback}_{slug}"
    if len(slug) > _MAX_SLUG:
        cut = slug[: _MAX_SLUG + 1]
        slug = cut[: cut.rfind("_")] if "_" in cut else slug[:_MAX_SLUG]
    return f"{slug}_module" if keyword.iskeyword(slug) else slug


def suggested_path(path: str) -> str:
    """The nearest importable spelling of a path, for messages."""
    parts = [part for part in path.removesuffix(".py").split("/") if part]
    return "/".join(snake_slug(part) for part in parts or ["generated"]) + ".py"
