"""A request that is not served, as an exception."""


class Refused(Exception):
    """The sender gets this status and reason. `unread`: the connection ends, its body was not read."""

    def __init__(self, status: int, reason: str, *, unread: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.unread = unread
