# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of tutti.torch on the ranks of mpiexec: run.py [part of a test's name]. Exits with 77 without PyTorch."""

import importlib.util
import os
import sys
import traceback

if importlib.util.find_spec("torch") is None:
    print(f"skipped: {sys.executable} has no PyTorch")
    sys.exit(77)
if importlib.util.find_spec("tutti._torch") is None:
    print("skipped: the package was built without PyTorch (python -m tutti.torch.build)")
    sys.exit(77)

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch.distributed as dist  # noqa: E402

import tutti.torch  # noqa: E402,F401  (registers the backend)

import operations_test  # noqa: E402
import training_test  # noqa: E402


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    dist.init_process_group("tutti")
    rank, size = dist.get_rank(), dist.get_world_size()
    ran = 0
    for module in (operations_test, training_test):
        for name in [name for name in vars(module) if name.startswith("test_") and wanted in name]:
            if "-v" in os.environ.get("TUTTI_TEST_FLAGS", "") and rank == 0:
                print(name, flush=True)
            try:
                getattr(module, name)(rank, size)
            except Exception:
                traceback.print_exc()
                print(f"FAILED {module.__name__}.{name} on rank {rank} of {size}", flush=True)
                # Other ranks may wait for this one.
                tutti._core._finish(True)
                sys.exit(1)
            ran += 1
    dist.destroy_process_group()
    if rank == 0:
        print(f"{ran} tests passed on {size} ranks")


main()
