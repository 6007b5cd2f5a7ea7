#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several hosts of namespaces: what a rank knows of ranks on other hosts that wait or die.

jobs.py CASE --launcher MPIEXEC --program FILE
Ends with 77 where there can be no such hosts, or the launcher is not Hydra.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import re
import shlex
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deaths import Job, survives_deaths  # noqa: E402
from hosts import Hosts, missing  # noqa: E402

SKIPPED = 77
QUIET = {"TUTTI_CALIBRATION": "off", "TUTTI_TUNING": "off", "TUTTI_TIMEOUT": "20", "UCX_LOG_LEVEL": "fatal"}


def start(hosts, options, ranks_a_host, ranks, command, lives_on=False, **variables):
    line = shlex.join(hosts.launcher(shlex.split(options.launcher), ranks_a_host))
    return Job(line, ranks, command, {**QUIET, **variables}, lives_on=lives_on)


def seen(job, pattern, seconds):
    """Whether the job writes so in that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if re.search(pattern, os.pread(job.output.fileno(), 1 << 20, 0).decode(errors="replace")):
            return True
        time.sleep(0.1)
    return False


def watchdog(options, case, pattern):
    """Two hosts hang; one line names the ranks of both."""
    with Hosts(2) as hosts:
        job = start(hosts, options, 1, 2, [options.program, case], TUTTI_WATCHDOG="0.5")
        problems = [] if seen(job, pattern, 15) else [f"nothing says {pattern}"]
        job.end()
        return problems + (["more than one host speaks"] if len(re.findall(pattern, job.text())) > 5 else []), job.text()


def listening(process):
    """How many sockets a process listens at, by address."""
    folder = pathlib.Path("/proc", str(process))
    own = set()
    for file in (folder / "fd").iterdir():
        with contextlib.suppress(OSError):
            own.add(os.readlink(file))
    found = collections.Counter()
    for row in [row.split() for name in ("tcp", "tcp6") for row in (folder / "net" / name).read_text().splitlines()[1:]]:
        if row[3] == "0A" and f"socket:[{row[9]}]" in own:
            words = bytes.fromhex(row[1].split(":")[0])
            found[".".join(map(str, words[::-1])) if len(words) == 4 else row[1]] += 1
    return found


def is_written(will):
    """Whether the program says in that file that it has begun; in 20 seconds at most."""
    end = time.monotonic() + 20
    while time.monotonic() < end and not (will.exists() and any(will.read_bytes())):
        time.sleep(0.02)
    return will.exists()


def port(options):
    """A rank listens at its address in the network that all hosts share, and nowhere else."""
    texts, ports = [], []
    with Hosts(2) as hosts, tempfile.TemporaryDirectory() as folder:
        hosts.add_networks()
        for seconds in ("0", "2"):
            will = pathlib.Path(folder, seconds)
            job = start(hosts, options, 1, 2, [options.program, "stay", "blocking", "1", str(will), "5"],
                        TUTTI_HEARTBEAT=seconds, UCX_NET_DEVICES="eth0")
            ports.append(listening(job.ranks()[0]) if is_written(will) else collections.Counter())
            job.end()
            texts.append(job.text())
        wanted = {hosts.addresses()[0]: 1}
    more = ports[1] - ports[0]
    return ([] if more == wanted else [f"listens at {dict(more)}, not {wanted}"]), "".join(texts)


def death(options, how, form, host_count, ranks_a_host):
    """A rank of another host ends, or its host is cut off: the others name it and go on without it."""
    ranks = host_count * ranks_a_host
    victim = ranks - 1
    lost = ranks_a_host if how == "stay" else 1
    limit = 5
    with Hosts(host_count) as hosts, tempfile.TemporaryDirectory() as folder:
        will = pathlib.Path(folder, "will")
        command = [options.program, how, form, str(victim), str(will), str(limit)]
        job = start(hosts, options, ranks_a_host, ranks, command, lives_on=True, TUTTI_HEARTBEAT="2")
        if how == "stay":
            is_written(will)
            hosts.cut(host_count)
        whole = seen(job, r"(?s)(goes on.*){%d}" % (ranks - lost), 25)
        problems = [] if whole else ["not all survivors went on"]
        if how != "stay" and not job.wait(10):  # the ranks of a host that is cut off wait for ever
            problems.append("did not end in time")
        job.end()
        return problems, job.text()


def program(options, host_count, ranks_a_host):
    """A test of the library, whose ranks are on several hosts."""
    with Hosts(host_count) as hosts:
        job = start(hosts, options, ranks_a_host, host_count * ranks_a_host, [options.program])
        passed = seen(job, "all ranks passed", 60)
        problems = [] if passed else ["not all ranks passed"]
        # The host MPI's MPI_Finalize may hang: MPICH 4.0.2 over UCX, one rank in a disconnect, the others past theirs.
        # Where it does not hang it takes a tenth of a second.
        if not job.wait(3):
            print("ended by this test, after the last word of the program")
        elif job.process.returncode != 0:
            problems.append(f"ended with {job.process.returncode}")
        return problems, job.text()


def training(options, *flags):
    """A rank of another host is killed while a mini-app trains; the others go on from the last checkpoint."""
    with Hosts(2) as hosts, tempfile.TemporaryDirectory() as folder:
        command = [options.program, f"--checkpoint-dir={folder}", "--on-failure=shrink", *flags]
        job = start(hosts, options, 1, 2, command, lives_on=True, TUTTI_HEARTBEAT="2")
        if not seen(job, r"Step 200,|it 200/", 30):
            return ["did not begin to work"], job.text()
        os.kill(job.ranks()[1], signal.SIGKILL)
        problems = [] if job.wait(40) else ["did not end in time"]
        for words in ("rank 1 (process ", "Trained "):
            if words not in job.text():
                problems.append(f'nobody says "{words}"')
        job.end()
        return problems, job.text()


SGD = ["--data=generated", "--samples=40000", "--epochs=6", "--batch-size=64", "--print-freq=200", "--save-freq=100"]
DLRM = ["--mini-batch-size=64", "--num-batches=1500", "--arch-embedding-size=200-300-400", "--arch-mlp-bot=13-16-8",
        "--arch-mlp-top=16-1", "--arch-sparse-feature-size=8", "--print-freq=100", "--save-freq=100"]
CASES = {
    "watchdog.recv": lambda options: watchdog(
        options, "recv", r"deadlock: rank \d waits for rank \d in recv from rank \d.*, rank \d waits for rank \d in recv"),
    "watchdog.missing": lambda options: watchdog(
        options, "missing", r"rank 0 has been in allreduce #6 .* it waits for rank 1, which is in no recorded call since"),
    "port": port,
    "death.blocking": lambda options: death(options, "kill", "blocking", 2, 1),
    "death.nonblocking": lambda options: death(options, "kill", "nonblocking", 2, 2),
    "death.persistent": lambda options: death(options, "exit", "persistent", 3, 1),
    "death.receive": lambda options: death(options, "kill", "receive", 3, 1),
    "program.alltoallv": lambda options: program(options, 2, 1),
    "program.allgather": lambda options: program(options, 2, 2),
    "program.phases": lambda options: program(options, 2, 2),
    "program.point_to_point": lambda options: program(options, 2, 1),
    "training.sgd": lambda options: training(options, *SGD),
    "training.dlrm": lambda options: training(options, *DLRM),
    "death.cut": lambda options: death(options, "stay", "blocking", 3, 1),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    why = missing() or ("" if survives_deaths(options.launcher) else "the launcher is not Hydra")
    if why:
        print(f"SKIPPED: {why}")
        return SKIPPED
    problems, text = CASES[options.case](options)
    print(text)
    for problem in problems:
        print(f"jobs.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
