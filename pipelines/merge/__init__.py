"""Adds generated definitions to an existing module without reprinting it."""

from pipelines.merge.module import merge_module, public_names

__all__ = ["merge_module", "public_names"]
