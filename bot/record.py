"""Base of the bot's immutable records."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Immutable, with known fields only; survives a trip through JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")
