# SPDX-License-Identifier: BSD-3-Clause
"""The types in the signatures of the package."""

import array
from collections.abc import Sequence
from typing import Any, Protocol, Union

import numpy
from typing_extensions import Buffer, TypedDict

from ._core import InPlace

class _HasDlpack(Protocol):
    def __dlpack_device__(self) -> Any: ...

class _HasCudaArrayInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...

class _HasCudaStream(Protocol):
    @property
    def cuda_stream(self) -> int: ...

class _HasPointer(Protocol):
    @property
    def ptr(self) -> int: ...

# An object with memory: arrays of NumPy, PyTorch, CuPy and JAX, bytes, array.array.
Array = Union[Buffer, numpy.ndarray[Any, Any], array.array[Any], _HasDlpack, _HasCudaArrayInterface]
ArrayOrInPlace = Union[Array, InPlace]
# Counts or displacements, in elements.
Numbers = Union[Sequence[int], numpy.ndarray[Any, Any]]
# A cudaStream_t as an integer, or a stream of PyTorch or CuPy.
Stream = Union[int, _HasCudaStream, _HasPointer]

class Options(TypedDict, total=False):
    """The options of a call, equal on all ranks but for stream and memory."""

    stream: Union[Stream, None]  # orders calls on device memory
    memory: Union[str, None]  # 'host', 'pinned', 'device', 'managed'; None: is found
    timeout: Union[float, None]  # seconds; None: the communicator's
    algorithm: Union[str, None]  # Communicator.algorithms lists them; None: the library chooses
    reproducible: bool  # one order of association for any size and layout
    accumulation: str  # sums: 'full' (16- and 8-bit floats in float32), 'backend' or 'exact'
