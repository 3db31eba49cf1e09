"""The part of the runtime that the language-model code uses, as structural types that small fakes can have too."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol


class TensorInfoLike(Protocol):
    """Shape and dtype of one input or output."""

    def sizes(self) -> tuple[int, ...]:
        """Return the shape; upper bounds where it can vary."""

    def dtype(self) -> Any:
        """Return the element type."""

    def bounds(self) -> tuple[tuple[int, int], ...]:
        """Return (smallest, largest) size of each dimension."""


class MethodMetaLike(Protocol):
    """What a method says of itself."""

    def num_inputs(self) -> int:
        """Return the number of inputs."""

    def input_tensor_meta(self, index: int) -> TensorInfoLike:
        """Describe a tensor input; raises an ExecuTorchError for an input of another kind."""


class MethodLike(Protocol):
    """A loaded method."""

    @property
    def metadata(self) -> MethodMetaLike:
        """What the method says of itself."""

    @property
    def has_delegate_state(self) -> bool:
        """Whether a delegate of the method keeps caches that no other method sees."""

    def prepare(self) -> None:
        """Open the device and upload the weights now."""

    def execute(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Run the method."""

    def reset(self) -> None:
        """Give caches their initial values."""


class ProgramLike(Protocol):
    """A loaded program."""

    @property
    def method_names(self) -> Collection[str]:
        """The names of all methods."""

    @property
    def device(self) -> str:
        """The device in words."""

    @property
    def gpu_bytes(self) -> int | None:
        """The most GPU memory taken so far, None on the CPU."""

    def load_method(self, name: str) -> MethodLike:
        """Load a method; the same name gives the same method."""
