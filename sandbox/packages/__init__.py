"""Third-party packages of a repository: read from its files, fetched outside the boxes, seen inside."""

from sandbox.packages.install import Installed, install_packages
from sandbox.packages.wanted import Wanted, wanted_packages

__all__ = ["Installed", "Wanted", "install_packages", "wanted_packages"]
