#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests of collectives (test_cco_buf, test_cco_nb_buf, test_cco_pr_buf: blocking, nonblocking, persistent; in
place too) on tutti's methods.

mpiexec -n 3 python3 tests/python/mpi4py_suite.py FOLDER, where FOLDER has mpi4py's tests, which tests/interop/run.py --get
brings. A thin class gives tutti.Communicator mpi4py's names; counts and types come from the arrays. Left out: long double,
which the package moves as bytes and does not reduce, and host memory that says that it is a GPU's. Ends with 77 without
mpi4py or NumPy.
"""

import importlib
import sys
import unittest

try:
    import numpy as np
    from mpi4py import MPI
except ModuleNotFoundError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import tutti

OPS = [(MPI.SUM, tutti.SUM), (MPI.PROD, tutti.PROD), (MPI.MAX, tutti.MAX), (MPI.MIN, tutti.MIN)]
MODULES = ("test_cco_buf", "test_cco_nb_buf", "test_cco_pr_buf")


def op_of(wanted):
    return next(ours for theirs, ours in OPS if theirs == wanted)


def array_of(spec):
    """The array of a buffer's description (array, count, type); MPI.IN_PLACE and None mean in place."""
    return spec[0] if isinstance(spec, (tuple, list)) else tutti.IN_PLACE


class Request:
    """mpi4py's names."""

    def __init__(self, request):
        self.request = request

    def Start(self):
        self.request.start()

    def Wait(self):
        self.request.wait()

    def Free(self):
        self.request = None


class Comm:
    """tutti.Communicator by mpi4py's names."""

    def __init__(self, comm):
        self.comm = comm

    def Get_size(self):
        return self.comm.size

    def Get_rank(self):
        return self.comm.rank

    def __getattr__(self, name):
        base = name[:-5] if name.endswith("_init") else name
        form = "_init" if name.endswith("_init") else "i" if base.startswith("I") else ""
        plain = base[1:].capitalize() if form == "i" else base

        def call(*arguments, **options):
            method = getattr(self.comm, "i" + plain.lower() if form == "i" else plain.lower() + form)
            result = method(*self.arguments(plain, list(arguments), options))
            return Request(result) if form else None

        return call

    def arguments(self, name, given, options):
        """tutti's positional arguments."""
        root = options.get("root", 0)
        if name in ("Bcast", "Gather", "Scatter") and len(given) > (1 if name == "Bcast" else 2):
            root = given.pop()
        if name == "Barrier":
            return []
        if name == "Bcast":
            return [array_of(given[0]), root]
        send, recv = array_of(given[0]), array_of(given[1])
        is_root = self.comm.rank == root
        if name == "Scatter":
            return [send if is_root else None, recv, root]
        if name == "Gather":
            return [send, recv if is_root else None, root]
        if name in ("Allgather", "Alltoall"):
            return [send, recv]
        if name == "Reduce":
            root = given[3] if len(given) > 3 else options.get("root", 0)
            return [send, recv if self.comm.rank == root else None, op_of(given[2]), root]
        op = op_of(options.get("op", given[-1]))
        if name == "Reduce_scatter":
            counts = given[2] or list(range(1, self.comm.size + 1))  # those of the test that passes none
            return [send, recv, counts, op]
        return [send, recv, op]


def load(folder):
    sys.path.insert(0, folder)
    arrays = importlib.import_module("arrayimpl")
    arrays.ArrayBackends[:] = [one for one in arrays.ArrayBackends if not one.__name__.startswith("FakeGPU")]
    for one in vars(arrays).values():
        kinds = getattr(one, "TypeMap", one if isinstance(one, dict) else {})
        for long_double in "gG":
            if isinstance(kinds, dict):
                kinds.pop(long_double, None)
    suite = unittest.TestSuite()
    for name in MODULES:
        module = importlib.import_module(name)
        for case in (module.TestCCOBufWorld, module.TestCCOBufInplaceWorld):
            case.COMM = Comm(tutti.world())
            tests = unittest.defaultTestLoader.loadTestsFromTestCase(case)
            suite.addTests(test for test in tests if "TypeIndexed" not in test.id())  # a derived datatype of MPI
    return suite


def main():
    comm = tutti.world()
    quiet = open("/dev/null", "w", encoding="ascii") if comm.rank else sys.stderr
    result = unittest.TextTestRunner(stream=quiet, verbosity=1, failfast=True).run(load(sys.argv[1]))
    found = np.array([result.testsRun, len(result.failures) + len(result.errors), len(result.skipped)])
    for case, text in result.failures + result.errors:
        print(f"rank {comm.rank}, {case}: {text}", flush=True)
    if comm.rank == 0:
        print(f"{found[0]} tests of mpi4py on {comm.size} ranks: {found[1]} failed, {found[2]} skipped", flush=True)
    if found[1]:
        MPI.COMM_WORLD.Abort(1)  # other ranks may wait
    sys.exit(0)


main()
