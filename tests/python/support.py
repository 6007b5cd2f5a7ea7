# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the package share. Every rank runs every test; a failed one ends the job."""

import contextlib
import time

import numpy as np

import tutti

comm = tutti.world()
rank, size = comm.rank, comm.size


def data(of_rank, count, iteration=0, dtype=np.int64):
    """Elements that depend on rank, index and iteration, small enough for exact sums in every type."""
    return ((np.arange(count) * 3 + of_rank * 5 + iteration * 7) % 8).astype(dtype)


def all_data(count, iteration=0, dtype=np.int64):
    return [data(r, count, iteration, dtype) for r in range(size)]


def equal(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape, f"rank {rank}: shape {got.shape}, wanted {wanted.shape}"
    assert (got == wanted).all(), f"rank {rank}: {got} is not {wanted}"


@contextlib.contextmanager
def raises(kind, code=None, text=""):
    try:
        yield
    except kind as error:
        if code is not None:
            assert error.code == code, f"code {error.code}, wanted {code}: {error}"
        assert text in str(error), f"'{text}' is not in: {error}"
        return
    raise AssertionError(f"rank {rank}: no {kind.__name__}")


def run(tests):
    """Runs the functions test_* of a module, in order; a test returns the reason why it is skipped."""
    for name, test in list(tests.items()):
        if not name.startswith("test_"):
            continue
        start = time.perf_counter()
        reason = test()
        comm.barrier()
        if rank == 0:
            word = f"skipped: {reason}" if reason else f"ok {1e3 * (time.perf_counter() - start):.0f} ms"
            print(f"{tests['__name__']}.{name}: {word}", flush=True)
