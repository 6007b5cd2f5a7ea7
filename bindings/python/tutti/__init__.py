# SPDX-License-Identifier: BSD-3-Clause
"""Collectives and training building blocks on MPI, for NumPy, PyTorch, CuPy and JAX arrays."""

from ._core import version

__version__ = version()
