"""Code that tries to be seen as passing though it fails."""

from . import ending, patching, secrets, speaking, swapping
from .forgery import Forgery

FORGERIES: tuple[Forgery, ...] = (
    *ending.FORGERIES,
    *secrets.FORGERIES,
    *speaking.FORGERIES,
    *patching.FORGERIES,
    *swapping.FORGERIES,
)

__all__ = ["FORGERIES", "Forgery"]
