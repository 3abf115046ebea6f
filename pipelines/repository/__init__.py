"""What a repository holds and where new modules belong in it. Pure: it never touches a disk."""

from pipelines.repository.layout import Layout, module_name, read_layout
from pipelines.repository.names import snake_slug
from pipelines.repository.snapshot import RepositorySnapshot
from pipelines.repository.target import Target, choose_target

__all__ = [
    "Layout",
    "RepositorySnapshot",
    "Target",
    "choose_target",
    "module_name",
    "read_layout",
    "snake_slug",
]
