"""Errors by who must react.

PipelineError
├── RefusalError          tell the person: the request cannot be served as it is
├── ModelError            feed back or ask again: the model answered, but not usably
├── InfrastructureError   try again later: a server, disk or sandbox failed
└── BudgetExceeded        stop, keep the best so far, say so

Everything else is a bug. Every message names what was wrong, where, and what to do.
"""


class PipelineError(Exception):
    """Base of all expected failures of a Run."""


class RefusalError(PipelineError):
    """The person must change something: a bad issue file, a missing repository, an impossible path."""


class ModelError(PipelineError):
    """The model's answer could not be used (empty, cut off, not the asked form)."""


class InfrastructureError(PipelineError):
    """Something that this Run needs is down; the same Run can be resumed when it is back."""


class BudgetExceeded(PipelineError):
    """A cap of the Budget was reached."""
