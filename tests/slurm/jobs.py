#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on two nodes of a real Slurm, which starts and ends with this program: the job scripts of docs/examples, both
mini-apps, the command tutti, and programs that call MPI only. jobs.py --bin DIR --scripts DIR [--unchanged FILE] CASE"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import cluster  # noqa: E402

SCALAPACK = "usr/lib/*/scalapack/mpich-tests/xdlu"
SRUN = ["srun", "--nodes=2", "--ntasks-per-node=1", "--mpi=pmi2", "--kill-on-bad-exit=1"]


def expect(what, condition):
    if not condition:
        cluster.show_logs()
        sys.exit(f"FAILED: {what}")


def run(*command, limit=60, **settings):
    done = subprocess.run([str(word) for word in command], text=True, timeout=limit, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **settings)
    print(done.stdout)
    return done


def output(*command, **settings):
    done = run(*command, **settings)
    expect(f"{' '.join(map(str, command))}: status {done.returncode}", done.returncode == 0)
    return done.stdout


def submit(script, *words, limit=60):
    """Submits a job script and waits. Returns the job's state and what it wrote."""
    log = cluster.FOLDER / "job.out"
    job = output("sbatch", "--parsable", f"--output={log}", f"--chdir={cluster.FOLDER}", script, *words).split()[-1]
    end = time.monotonic() + limit
    state = ""
    while state not in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"):
        expect(f"{script.name} ends within {limit} s; its state is {state}", time.monotonic() < end)
        time.sleep(0.1)
        shown = subprocess.run(["scontrol", "--oneliner", "show", "job", job], capture_output=True, text=True)
        state = re.search(r"JobState=(\w*)", shown.stdout)[1]
    text = log.read_text(encoding="utf-8")
    print(f"{state}\n{text}")
    return state, text


def dlrm(args):
    """By the job script for CPU nodes, on four ranks of two nodes."""
    state, text = submit(args.scripts / "cpu.sh", args.bin / "tutti-dlrm", "--preset=adult", "--num-batches=40")
    expect("cpu.sh with tutti-dlrm completes", state == "COMPLETED")
    expect("the job has four ranks", "tutti-dlrm on 4 ranks" in text)
    auc = re.search(r"Test after 160 steps: AUC (0\.\d+)", text)
    expect("the model learns", auc and float(auc[1]) > 0.9)


def sgd(args):
    text = output(*SRUN, args.bin / "tutti-sgd", "--model=mlp", "--hidden=16", "--max-steps=20")
    expect("two ranks train", "2 ranks" in text)


def topo(args):
    machine = json.loads(output(*SRUN, args.bin / "tutti", "topo", "--json"))
    nodes = [element["node"] for element in machine["elements"] if element["kind"] == "rank"]
    expect(f"the two ranks are on two nodes: {nodes}", nodes == [0, 1])
    groups = {"source": "SLURM_TOPOLOGY_ADDR", "nodes": [["top", "leaf1"], ["top", "leaf2"]], "problems": []}
    expect(f"the groups that Slurm names: {machine['network']}", machine["network"] == groups)
    # The same from Slurm's file, and nothing from a node that is not in it.
    without = [*SRUN, "env", "--unset=SLURM_TOPOLOGY_ADDR", "--unset=SLURM_TOPOLOGY_ADDR_PATTERN"]
    network = json.loads(output(*without, args.bin / "tutti", "topo", "--json"))["network"]
    expect(f"those of its file: {network}", network == dict(groups, source="topology.conf"))
    network = json.loads(output(*without, "SLURMD_NODENAME=n3", args.bin / "tutti", "topo", "--json"))["network"]
    expect(f"none of a node that is not there: {network}", not network["source"] and "'n3'" in str(network["problems"]))


def all_through_tutti(text):
    return re.search(r"tutti-mpi: ([1-9]\d*) of \1 collective calls", text)


def unchanged(args):
    text = output(*SRUN, args.bin / "tutti", "run", "--report", "--", args.unchanged)
    expect("all calls of the program go through Tutti", all_through_tutti(text))


def scalapack(args):
    """A program of others, with its own tests."""
    program = next(pathlib.Path("/").glob(SCALAPACK), None)
    if program is None:
        cluster.skip("no ScaLAPACK; Debian: apt-get install --no-install-recommends scalapack-mpi-test")
    text = output(*SRUN, args.bin / "tutti", "run", "--report", "--", program, cwd=program.parent)
    expect("the program reaches its end", "END OF TESTS" in text)
    expect("no test failed", re.search(r"[1-9]\d* tests completed and failed", text) is None)
    expect("its calls go through Tutti", all_through_tutti(text))


def killed(args):
    """A rank that is killed ends the job, although this Slurm has KillOnBadExit=0."""
    dies = 'if [ $SLURM_PROCID = 1 ]; then "$@" & sleep 2; kill -9 $!; wait $!; else exec "$@"; fi'
    state, text = submit(args.scripts / "cpu.sh", "sh", "-c", dies, "sh", args.bin / "tutti-sgd", "--model=mlp",
                         "--epochs=1000000", limit=20)
    expect("the job fails", state == "FAILED")
    expect("the rank was training", "step" in text)


def gpu(args):
    """No GPU is here: the script asks this Slurm for four of each node, and its ranks look at what they were given."""
    state, text = submit(args.scripts / "gpu.sh", "sh", "-c", "echo rank $SLURM_PROCID sees $CUDA_VISIBLE_DEVICES")
    expect("gpu.sh completes", state == "COMPLETED")
    for rank in range(8):
        expect(f"rank {rank} sees all GPUs of its node", f"rank {rank} sees 0,1,2,3" in text)


CASES = {case.__name__: case for case in (dlrm, sgd, topo, unchanged, scalapack, killed, gpu)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--scripts", type=pathlib.Path, required=True)
    parser.add_argument("--unchanged", type=pathlib.Path)
    args = parser.parse_args()
    cluster.enter()
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        del os.environ[name]
    begin = time.monotonic()
    cluster.start()
    print(f"Slurm is up after {time.monotonic() - begin:.1f} s")
    CASES[args.case](args)


if __name__ == "__main__":
    main()
