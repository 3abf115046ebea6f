"""GitHub as this project sees it: own types, one protocol, one file per implementation."""
