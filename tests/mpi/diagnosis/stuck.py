#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that hang: the watchdog and `tutti flight` say who waits for whom, from within and from outside.

stuck.py --program STUCK --tutti TUTTI --launcher LINE --ranks N CASE
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from deaths import Job, survives_deaths  # noqa: E402

SKIPPED = 77
# What the watchdog must say of each case, and what `tutti flight` must find.
PLACE = r" at stuck\.cpp:\d+ in \w+\(.*?\)" if shutil.which("addr2line") else r" at mpi_stuck\+0x\w+"
SAYS = {
    "recv": (r"deadlock: rank \d waits for rank \d in recv from rank \d, tag 3 \(400 B, communicator 'first'\)" + PLACE,
             "deadlock"),
    "send": (r"deadlock: rank \d waits for rank \d in send to rank \d, tag 3 \(4194304 B", "deadlock"),
    "order": (r"deadlock: rank \d waits for rank \d in barrier #\d of communicator '(first|second)'" + PLACE + r", rank \d",
              "deadlock"),
    "missing": (r"rank 0 has been in allreduce #6 of communicator 'first' \(float32, 400 B, sum\)" + PLACE + r" for [\d.]+ s; it waits "
                r"for rank 1, which is in no recorded call since allreduce #5", "wait"),
    "request": (r"rank 0 has been in iallreduce #6 of communicator 'first' .*" + PLACE + r".* it waits for rank 1, which is in no recorded call",
                "wait"),
    "killed": (r"rank 1 \(process \d+ of .*\) has ended without MPI_Finalize; its last call is allreduce #5", "death"),
}


def start(options, **variables):
    kills = options.case == "killed"
    if kills and not survives_deaths(options.launcher):
        print("SKIPPED: the launcher kills the ranks that live on")
        sys.exit(SKIPPED)
    more = {"TUTTI_TIMEOUT": "30", "TUTTI_TUNING": "off", "TUTTI_CALIBRATION": "off", **variables}
    return Job(options.launcher, options.ranks, [options.program, options.case], more, lives_on=kills)


def written(job):
    """What a job has written so far; the launcher writes on at the same place of the same file."""
    return os.pread(job.output.fileno(), 1 << 20, 0).decode(errors="replace")


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return value


def flight(options, *arguments):
    done = subprocess.run([options.tutti, "flight", *arguments], text=True, capture_output=True, timeout=30, check=False)
    return done.returncode, done.stdout, done.stderr


def process_of(options):
    """A process of the job, as a user finds it: by the list."""
    code, text, _ = flight(options)
    assert code == 0, text
    rows = (line.split()[0] for line in text.splitlines() if line.endswith(f"{options.program} {options.case}"))
    return next(rows, None)


def expect(text, pattern):
    assert re.search(pattern, text), f"expected {pattern} in\n{text}"


def watch(options):
    pattern, kind = SAYS[options.case]
    job = start(options, TUTTI_WATCHDOG="0.5")
    try:
        process = wait_for(lambda: process_of(options))
        assert process, "the job is not in the list:\n" + written(job)
        wait_for(lambda: re.search(pattern, flight(options, process)[1]))
        expect(flight(options, process, "--last", "2")[1], pattern)
        found = json.loads(flight(options, process, "--json")[1])[0]
        assert kind in {finding["kind"] for finding in found["findings"]}, found
        assert len(found["ranks"]) == options.ranks, found
        if options.case != "killed":  # those that live on do not wait: their calls have failed
            wait_for(lambda: re.search("tutti: " + pattern, written(job)))
            expect(written(job), "tutti: " + pattern)
    finally:
        job.end()


def end_by_watchdog(options):
    """The job ends after it has said who waits for whom."""
    job = start(options, TUTTI_WATCHDOG="0.5", TUTTI_WATCHDOG_ABORT="1")
    assert job.wait(40) != 0
    expect(written(job), "tutti: " + SAYS[options.case][0])


def look_back(options):
    """The job is over; its recorders are files."""
    with tempfile.TemporaryDirectory() as folder:
        start(options, TUTTI_FLIGHT=folder, TUTTI_TIMEOUT="0.5").wait(40)
        code, text, err = flight(options, folder, "--last", "3")
        assert code == 0, err
        expect(text, rf"rank {options.ranks - 1} of {options.ranks}, process \d+ of \S+, has ended, \d+ calls")
        expect(text, r"allreduce #5 of communicator 'first' \(float32, 40 B, sum\)")
        damaged = os.path.join(folder, "tutti-flight.damaged")
        with open(damaged, "wb") as file:
            file.write(b"no flight" * 100)
        code, text, err = flight(options, folder)
        assert code == 0 and damaged in err, err
        code, _, err = flight(options, damaged)
        assert code != 0 and "no flight recorder" in err and err.count("tutti: ") == 1, err
        expect(flight(options, folder + "/none")[2], r"^tutti: flight: .*/none: cannot be read: .*; name a folder .*\n$")
        job = start(options, TUTTI_FLIGHT=folder + "/none", TUTTI_TIMEOUT="0.5")
        job.wait(40)
        expect(written(job), "tutti: TUTTI_FLIGHT: .*; name a folder that exists")
        code, _, err = flight(options, "999999999")
        assert code != 0 and "TUTTI_FLIGHT" in err, err


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "tutti", "launcher"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--abort", action="store_true")
    parser.add_argument("case", choices=SAYS)
    options = parser.parse_args()
    (look_back if options.files else end_by_watchdog if options.abort else watch)(options)


main()
