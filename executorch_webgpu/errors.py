"""Every failure that the package raises on purpose, named as ExecuTorch names its error codes.

Source of the names: ``executorch/runtime/core/error.h``.
"""

from __future__ import annotations


class ExecuTorchError(RuntimeError):
    """Base class of all errors of this package."""


class InvalidProgram(ExecuTorchError):
    """The program file is damaged or is not an ExecuTorch program."""


class InvalidExternalData(ExecuTorchError):
    """A .ptd file is damaged, missing a tensor, or disagrees with the program."""


class InvalidArgument(ExecuTorchError):
    """An argument has a value that the callee does not accept."""


class InvalidType(InvalidArgument, TypeError):
    """An argument has a Python type or dtype that the callee does not accept."""


class InvalidIndex(InvalidArgument, IndexError):
    """An index lies outside of what it indexes."""


class InvalidState(ExecuTorchError):
    """The object is closed or not ready for this call."""


class NotFound(ExecuTorchError, KeyError):
    """A named thing (file, method, key, backend) does not exist."""

    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return RuntimeError.__str__(self)


class NotSupported(ExecuTorchError):
    """The request is well formed but cannot be served."""


class OperatorMissing(NotSupported):
    """The program needs operators, or dtypes of operators, that the package lacks."""


class DelegateInvalidCompatibility(ExecuTorchError):
    """The delegate blob is damaged or of a version that cannot be read."""


class OutOfResources(ExecuTorchError):
    """A memory, binding or device limit would be exceeded."""


class DeviceLost(ExecuTorchError):
    """The GPU device was lost; ``Program.reload()`` makes a new one."""


class DeviceNotFound(NotFound):
    """No adapter answers to the requested device."""


class MissingExtra(ExecuTorchError, ImportError):
    """An optional dependency is needed; the message names the extra to install."""


class Internal(ExecuTorchError):
    """The package itself is at fault."""


def counted(number: int, noun: str) -> str:
    """Return a number and what it counts, for messages: ``1 input``, ``2 inputs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
