# SPDX-License-Identifier: BSD-3-Clause
"""The start and the end of MPI in an interpreter."""

import atexit
import sys
import time
from typing import Any, Optional

from . import _core
from ._core import Communicator

_world: Optional[Communicator] = None
_failed = False


def _note_failures() -> None:
    """Other ranks may wait for a rank that an exception ends, and MPI_Finalize would wait for them."""
    previous = sys.excepthook

    def note(kind: Any, value: Any, traceback: Any) -> None:
        global _failed
        _failed = not hasattr(sys, "ps1")  # at a prompt the interpreter goes on
        previous(kind, value, traceback)

    sys.excepthook = note


@atexit.register
def _finish() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    if _failed:
        time.sleep(0.1)  # a launcher may drop the text that it has not read when the job is aborted
    _core._finish(_failed)


_note_failures()


def init(threads: str = "multiple", progress_thread: bool = False) -> None:
    """Initialises MPI unless the program has done so (mpi4py does when it is imported).

    threads is the thread level to ask for: 'single', 'funneled', 'serialized' or 'multiple'. progress_thread=True drives
    outstanding operations from a thread. MPI is finalized when the interpreter ends; after an exception that nothing has
    caught, the job is aborted instead, because other ranks may wait for this one. Collective over MPI_COMM_WORLD if it
    initialises MPI. Raises Error (MISMATCH) if mpi4py is loaded and uses another MPI library.
    """
    _core.init(threads, progress_thread)


def world() -> Communicator:
    """Returns the communicator of all ranks, which the first call makes. Collective at the first call."""
    global _world
    if _world is None:
        _world = Communicator()
    return _world
