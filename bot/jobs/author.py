"""Who signs the bot's commits."""

from urllib.parse import urlsplit

from bot.github.types import Actor
from bot.settings import Settings


def bot_author(identity: Actor, settings: Settings) -> dict[str, str]:
    """Author of the commits: as set, else the account that GitHub shows beside them."""
    chosen = {"author_name", "author_email"} & settings.model_fields_set
    on_github = urlsplit(settings.github.api_url).hostname == "api.github.com"
    if chosen or not on_github:
        return {}
    account = f"{identity.id}+{identity.login}" if identity.id else identity.login
    return {"author_name": identity.login, "author_email": f"{account}@users.noreply.github.com"}
