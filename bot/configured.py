"""The owner's settings as a repository's configuration narrows them."""

from bot.repository_config import RepositoryConfig
from bot.settings import Settings


def configured(settings: Settings, config: RepositoryConfig) -> Settings:
    """Lower limits, and the repository's choice among the models that the owner offers."""
    changes: dict[str, object] = {
        "budget": config.limits.budget(settings.budget),
        "direct": config.limits.direct(settings.direct),
    }
    if config.model is not None:
        changes["executor"] = settings.offered_models[config.model]
    return settings.model_copy(update=changes)
