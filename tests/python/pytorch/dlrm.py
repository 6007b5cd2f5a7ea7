# SPDX-License-Identifier: BSD-3-Clause
"""The DLRM of PyTorch (facebookresearch/dlrm, dlrm_s_pytorch.py) on tutti: dlrm.py FOLDER MPIEXEC [FLAGS...] -n.

On several ranks it has the losses that it has on gloo. Started as in one process, it also has the golden losses, which
tutti-dlrm has too (tests/mpi/dlrm). Ends with 77 without PyTorch or where FOLDER has no dlrm_s_pytorch.py.
"""

import importlib.util
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "mpi" / "dlrm" / "golden_losses.json"


def why_skipped(program):
    if not program.is_file():
        return f"{program} is absent; name a clone of facebookresearch/dlrm by -DTUTTI_TEST_DLRM_DIR=..."
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("tutti._torch") is None:
        return f"{sys.executable} has no PyTorch, or the package was built without it"
    return ""


def free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return str(probe.getsockname()[1])


def losses(ranks, program, flags, alike=False, **variables):
    """The losses that all ranks print: for each step the mean over the ranks."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "MASTER_ADDR": "127.0.0.1",
                   "MASTER_PORT": free_port(), "PYTHONWARNINGS": "ignore", **variables}
    with tempfile.TemporaryDirectory() as folder:
        command = [*sys.argv[2:], str(ranks), sys.executable, str(HERE / "dlrm_rank.py"), str(program),
                   "alike" if alike else "unchanged", *flags]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200,
                              check=False)
        found = [json.loads(path.read_text()) for path in pathlib.Path(folder).glob("losses.*")]
    said = done.stdout + done.stderr
    assert done.returncode == 0 and len(found) == ranks and found[0], f"{' '.join(command)}:\n{said}"
    for backend in [flag.partition("=")[2] for flag in flags if flag.startswith("--dist-backend")]:
        assert ranks == 1 or f"Running on {ranks} ranks using {backend} backend" in said, said
    return [sum(of_step) / ranks for of_step in zip(*found, strict=True)]


def compare(name, found, wanted, tolerance):
    assert len(found) == len(wanted), f"{name}: {len(found)} losses, wanted {len(wanted)}"
    worst = max(abs(a - b) for a, b in zip(found, wanted))
    assert worst <= tolerance, f"{name}: losses {found}, wanted {wanted}, {worst} away"
    print(f"{name}: {len(found)} losses, at most {worst:.1e} away", flush=True)


def main():
    program = pathlib.Path(sys.argv[1]).resolve() / "dlrm_s_pytorch.py"
    why = why_skipped(program)
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    case = [case for case in json.loads(GOLDEN.read_text())["cases"] if "--mini-batch-size=128" in case["flags"]][0]
    flags = [*case["flags"].split(), "--print-freq=1"]
    tutti, gloo = [*flags, "--dist-backend=tutti"], [*flags, "--dist-backend=gloo"]
    for ranks in (1, 2, 4):
        found = losses(ranks, program, tutti, alike=True)
        compare(f"tutti and golden losses, {ranks} ranks", found, case["losses"], 5e-6)
        if ranks > 1:
            compare(f"tutti and gloo, {ranks} ranks", losses(ranks, program, tutti), losses(ranks, program, gloo), 2e-6)
    for way in ("scatter", "scatter_list"):
        found = losses(2, program, tutti, alike=True, DLRM_ALLTOALL_IMPL=way)
        compare(f"tutti and golden losses by {way}, 2 ranks", found, case["losses"], 5e-6)


main()
