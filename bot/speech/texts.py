"""The bot's fixed texts in people's languages, from the catalogs in `texts/`."""

import tomllib
from functools import cache
from importlib.resources import files

FALLBACK = "en"


def say(language: str, key: str, /, **values: object) -> str:
    """The text of `key` (`section.name`) with its values filled in; English where there is no catalog.

    Values are put in as they are: people's text must have been made harmless before.
    """
    return catalog(language)[key].format(**values)


def knows(language: str, key: str) -> bool:
    """Whether there is such a text."""
    return key in catalog(language)


@cache
def languages() -> frozenset[str]:
    """ISO 639-1 codes of all catalogs."""
    names = (entry.name for entry in (files("bot.speech") / "texts").iterdir())
    return frozenset(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def catalog(language: str) -> dict[str, str]:
    """All texts of a language by key; of `pt-BR` those of `pt`."""
    code = language.lower().replace("_", "-").partition("-")[0]
    return _read(code if code in languages() else FALLBACK)


@cache
def _read(code: str) -> dict[str, str]:
    raw = (files("bot.speech") / "texts" / f"{code}.toml").read_text("utf-8")
    return {
        f"{section}.{name}": text
        for section, texts in tomllib.loads(raw).items()
        for name, text in texts.items()
    }
