"""What can go wrong with the sandbox itself.

SandboxError
├── SandboxUnavailable   no usable backend on this machine; the message says what to install
├── SandboxBroken        a backend failed while serving; carries its own diagnosis
└── SetupFailed          packages could not be fetched; carries the installer's own diagnosis

A command that fails, times out or exceeds a limit is not an error: it is an `ExecResult`.
"""


class SandboxError(Exception):
    """The sandbox failed, as opposed to the command that ran in it."""


class SandboxUnavailable(SandboxError):
    """No backend can run here; the message names what to install."""


class SandboxBroken(SandboxError):
    """A backend failed while serving a command; the message is the backend's own diagnosis."""


class SetupFailed(SandboxError):
    """The packages of a repository could not be fetched; the message is the installer's own diagnosis."""
