# SPDX-License-Identifier: BSD-3-Clause
"""Starts programs by torchrun, and wrongly: launch.py MPIEXEC [FLAGS...] -n. Ends with 77 without PyTorch."""

import importlib.util
import os
import subprocess
import sys

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("tutti._torch") is None:
    print(f"skipped: {sys.executable} has no PyTorch, or the package was built without it")
    sys.exit(77)

SUMS = """
import torch, torch.distributed as dist, tutti.torch
dist.init_process_group("tutti")
x = torch.ones(3) * (dist.get_rank() + 1)
dist.all_reduce(x)
assert x.tolist() == [3.0] * 3, x
dist.destroy_process_group()
print("sums are right", flush=True)
"""


def said_by(command, program, environment=None):
    done = subprocess.run([*command, *program], capture_output=True, text=True, timeout=100, check=False,
                          env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout + done.stderr


def expect(found, text, times=1):
    assert found[1].count(text) >= times, f"{text!r} is not {times} times in:\n{found[1]}"


path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"tutti_torch_launch_{os.getpid()}.py")
with open(path, "w", encoding="utf-8") as program:
    program.write(SUMS)
try:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    expect(said_by(torchrun, [path]), "sums are right", 2)
finally:
    os.remove(path)
# One process of a job of two, without a launcher.
single = ("import datetime, torch.distributed as dist, tutti.torch\n"
          "from tutti import _torch\n"
          "_torch.create(dist.HashStore(), 0, 2, datetime.timedelta(seconds=1), [], 'x')\n")
expect(said_by([sys.executable, "-c"], [single]), "start the program by mpiexec -n 2")
swapped = ("import datetime, torch.distributed as dist, tutti.torch\n"
           "from tutti import _torch\n"
           "rank, size = _torch.world()\n"
           "_torch.create(dist.HashStore(), size - 1 - rank, size, datetime.timedelta(seconds=1), [], 'x')\n")
expect(said_by([*sys.argv[1:], "2", sys.executable, "-c"], [swapped]), "is MPI's rank")
print("launches passed")
