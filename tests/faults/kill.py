#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills a random rank of a program at a random moment, round after round.

kill.py --launcher LINE --sgd tutti-sgd --dlrm tutti-dlrm --commbench tutti-commbench [--rounds N] [--seed S]
        [--ranks N]

In some rounds the launcher ends the job as it does for any program; in the others the ranks live on: they must name the
dead one and, in the mini-apps, go on without it to the end. After each round no process and no name in /dev/shm may be
left. A round that fails prints its number; --seed and --first repeat it. Ends with 77 where the launcher cannot let
ranks live on.
"""
import argparse
import os
import random
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from deaths import Job, survives_deaths  # noqa: E402

SKIPPED = 77
END_LIMIT = 5  # seconds from a death to the end of a job that does not go on
RUN_LIMIT = 60  # of one that goes on
START_LIMIT = 30


def programs(options, folder):
    """Command line, words that say that ranks are at work, and those of a whole run (None: others do not go on)."""
    saves = [f"--checkpoint-dir={folder}", "--save-freq=50", "--on-failure=shrink"]
    return {
        "sgd": ([options.sgd, "--data=generated", "--samples=40000", "--epochs=6", "--batch-size=64",
                 "--print-freq=500", *saves], "Step 500,", "Trained "),
        "dlrm": ([options.dlrm, "--mini-batch-size=64", "--num-batches=3000", "--arch-embedding-size=200-300-400",
                  "--arch-mlp-bot=13-16-8", "--arch-mlp-top=16-1", "--arch-sparse-feature-size=8", "--print-freq=100",
                  *saves], "it 100/", "Trained "),
        "commbench": ([options.commbench, "--operations=allreduce,bcast,alltoall", "--algorithms=auto", "--budget=0.3",
                       "--max-iterations=10000000"], "blocking", None),
    }


def wait_for_words(job, words):
    end = time.monotonic() + START_LIMIT
    while time.monotonic() < end and job.process.poll() is None:
        if words in job.text():
            return True
        time.sleep(0.02)
    return False


def kill_one(job, rng):
    """The rank and process id of the victim, or None if there was none."""
    ranks = sorted(job.ranks().items())
    if not ranks:
        return None
    rank, process = rng.choice(ranks)
    try:
        os.kill(process, signal.SIGKILL)
    except OSError:
        return None
    return rank, process


def play(options, rng, folder):
    """One round: what it was, and its problems."""
    name = rng.choice(["sgd", "dlrm", "commbench"])
    command, at_work, whole = programs(options, folder)[name]
    ranks = rng.randint(2, options.ranks)
    lives_on = rng.random() < 0.7
    job = Job(options.launcher, ranks, command, lives_on=lives_on)
    what = f"{name}, {ranks} ranks, {'they live on' if lives_on else 'the launcher ends them'}"
    try:
        # A rank that dies while the host MPI starts is not seen by the library.
        if lives_on and not wait_for_words(job, at_work):
            return what, ["did not begin to work", job.text()[-2000:]]
        time.sleep(rng.uniform(0, 0.4 if lives_on else 1.5))
        victim = kill_one(job, rng)
        goes_on = lives_on and whole is not None
        in_time = job.wait(RUN_LIMIT if goes_on or victim is None else END_LIMIT)
        left = job.problems()
        if not lives_on and any(problem.startswith("/dev/shm/") for problem in left):
            # All ranks were killed while they made it; the next job of this user removes it.
            time.sleep(12)
            Job(options.launcher, 2, [options.commbench, "--operations=barrier", "--budget=0.1"], lives_on=False).wait(30)
            left = job.problems()
        text = job.text()
        if goes_on and whole in text.split("has ended")[0]:  # the victim was in MPI_Finalize, where MPICH waits for it
            return what + ", whose work was over", left
        problems = left if in_time else ["did not end in time", *left]
        if lives_on and victim is not None:
            if f"rank {victim[0]} (process {victim[1]}) has ended" not in text:
                problems.append(f"nobody named rank {victim[0]}, process {victim[1]}")
            if goes_on and whole not in text:
                problems.append("the others did not go on to the end")
        return what, problems + ([text[-3000:]] if problems else [])
    finally:
        job.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("launcher", "sgd", "dlrm", "commbench"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=8, help="at most")
    options = parser.parse_args()
    if not survives_deaths(options.launcher):
        print("SKIPPED: the launcher kills the ranks that live on")
        return SKIPPED
    failed = 0
    for number in range(options.first, options.first + options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            what, problems = play(options, random.Random(options.seed * 1_000_003 + number), folder)
        print(f"round {number}: {what}: {'; '.join(problems) or 'good'}", flush=True)
        failed += 1 if problems else 0
    print(f"{options.rounds} rounds, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
