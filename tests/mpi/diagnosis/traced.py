#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of whole jobs: TUTTI_TRACE writes one valid file, and `tutti trace summary` names the rank that came late.

traced.py --program TRACED --tutti TUTTI --launcher LINE --ranks N CASE
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from deaths import Job, survives_deaths  # noqa: E402

SKIPPED = 77
OFTEN = 2000  # more than the ring of a recorder holds
DELAY = 0.5  # of the last rank, in seconds
LATE = {"collective": "allreduce", "request": "wait iallreduce", "message": "recv"}
REASONS = {"collective": "collective", "request": "collective", "message": "late sender"}


# Mini-apps: steps, and arguments that ask for them.
STEPS = 3
PHASES = {"tutti-sgd": ["--data", "generated", "--max-steps", str(STEPS)],
          "tutti-dlrm": ["--mini-batch-size", "128", "--data-size", str(128 * STEPS)]}


def run(options, file, **variables):
    more = {"TUTTI_TUNING": "off", "TUTTI_CALIBRATION": "off", "TUTTI_TIMEOUT": "20", "TUTTI_TRACE": file, **variables}
    program = pathlib.Path(options.program).name
    arguments = PHASES[program] if options.case == "phases" else [options.case, str(OFTEN)]
    job = Job(options.launcher, options.ranks, [options.program, *arguments], more, lives_on=options.case == "killed")
    assert job.wait(60), "the job does not end:\n" + job.text()
    return job


def tool(options, *arguments):
    done = subprocess.run([options.tutti, "trace", *arguments], text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def nanoseconds(microseconds):
    """A time of a trace as a whole number, so that an end and the begin that follows at once compare equal."""
    return round(microseconds * 1000)


def check_nesting(slices):
    """Slices of one thread lie one in another, or one behind another."""
    open_ends = []
    for one in slices:
        begin = nanoseconds(one["ts"])
        end = begin + nanoseconds(one["dur"])
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1] + 2, (begin, end, open_ends)
        open_ends.append(end)


def check_file(options, file):
    """The events of a trace, which must be one that programs can read."""
    events = json.loads(pathlib.Path(file).read_text())["traceEvents"]
    times = [event["ts"] for event in events]
    assert times == sorted(times), "the times run back"
    slices = [event for event in events if event["ph"] == "X"]
    assert {event["pid"] for event in slices} == set(range(options.ranks))
    for rank in range(options.ranks):
        check_nesting([one for one in slices if one["pid"] == rank])
    flows = {}
    for event in events:
        if event["ph"] in "sf":
            flows.setdefault(event["id"], []).append(event)
    for begin, end in flows.values():
        assert (begin["ph"], end["ph"]) == ("s", "f") and begin["ts"] <= end["ts"], (begin, end)
    return events


def named(events, name, phase="X"):
    return [event for event in events if event["ph"] == phase and event["name"] == name]


def check_late(options, file, events):
    summary = json.loads(tool(options, "summary", file, "--json"))
    last = options.ranks - 1
    waits = [one for one in summary["waits"] if one["reason"] == REASONS[options.case] and one["for"] == last]
    waiters = {0} if options.case == "message" else set(range(last))
    late = {one["rank"]: one for one in summary["longest_waits"] if one["call"] == LATE[options.case]}
    assert set(late) == waiters, summary["longest_waits"]
    for rank in waiters:
        assert late[rank]["for"] == last and 0.9 * DELAY < late[rank]["seconds"] < 20 * DELAY, late
        assert sum(one["seconds"] for one in waits if one["rank"] == rank) >= late[rank]["seconds"] - 1e-6, waits
    caused = {one["rank"]: one["seconds_caused"] for one in summary["ranks"]}
    assert caused[last] > 0.9 * DELAY * len(waiters), caused
    assert named(events, "waited for", "s"), "no arrow leads from the late rank"
    if options.case == "message":
        assert len(named(events, "message", "s")) == 1
        received = named(events, "recv")[0]["args"]
        assert received["peer"] == last and received["tag"] == 7, received
    bcasts = [one for one in summary["operations"] if one["call"] == "bcast"]
    assert sum(one["calls"] for one in bcasts) == OFTEN * options.ranks, bcasts
    assert {one["bytes_up_to"] for one in bcasts} == {4} and all(one["path"] for one in bcasts), bcasts
    assert sum(one["share"] for one in summary["operations"]) < 1.01
    ranges = {one["name"]: one for one in summary["ranges"]}
    assert len(ranges["often"]["ranks"]) == options.ranks
    text = tool(options, "summary", file)
    assert f"rank {last}" in text and "bcast" in text and "often" in text, text


def check_merged(options, folder, file):
    left = sorted(path.name for path in pathlib.Path(folder).iterdir())
    assert left == ["trace.json"], left
    check_late(options, file, check_file(options, file))


def check_killed(options, folder, file):
    """No rank gets to MPI_Finalize: the parts are there, and the tool merges them."""
    if not survives_deaths(options.launcher):
        print("SKIPPED: the launcher kills the ranks that live on")
        sys.exit(SKIPPED)
    run(options, file)
    left = sorted(path.name for path in pathlib.Path(folder).iterdir())
    assert left == [f"trace.json.{rank}" for rank in range(options.ranks)], left
    tool(options, "merge", file)
    events = check_file(options, file)
    last = options.ranks - 1
    calls = [event for event in named(events, "bcast") if event["pid"] == last]
    assert len(calls) == OFTEN, len(calls)
    ended = {event["pid"]: event["args"]["ended"] for event in named(events, "process_name", "M")}
    assert not any(ended.values()), ended
    assert f"Rank {last} ended without MPI_Finalize" in tool(options, "summary", file)


def check_ranges(options, file):
    run(options, file)
    events = check_file(options, file)
    for rank in range(options.ranks):
        (outer,) = [event for event in named(events, "outer") if event["pid"] == rank]
        (inner,) = [event for event in named(events, "inner") if event["pid"] == rank]
        (call,) = [event for event in named(events, "allreduce") if event["pid"] == rank]
        for inside, around in ((inner, outer), (call, inner)):
            assert around["ts"] <= inside["ts"], (inside, around)
            assert inside["ts"] + inside["dur"] <= around["ts"] + around["dur"] + 0.002, (inside, around)


def check_phases(options, file):
    """Each step is a range, and its phases are ranges inside of it that follow one another."""
    run(options, file)
    events = check_file(options, file)
    for rank in range(options.ranks):
        mine = [event for event in events if event["ph"] == "X" and event["pid"] == rank and event["cat"] == "range"]
        steps = [event for event in mine if event["name"] == "step"]
        assert len(steps) == STEPS, (rank, len(steps))
        for step in steps:
            end = step["ts"] + step["dur"] + 0.002
            inside = {event["name"] for event in mine
                      if event is not step and step["ts"] <= event["ts"] and event["ts"] + event["dur"] <= end}
            assert {"backward", "update"} <= inside, (rank, inside)
    ranges = {one["name"] for one in json.loads(tool(options, "summary", "--json", file))["ranges"]}
    assert {"step", "backward", "update"} <= ranges, ranges


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "tutti", "launcher"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("case", choices=[*REASONS, "killed", "ranges", "phases"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trace.json")
        if options.case == "killed":
            return check_killed(options, folder, file)
        if options.case == "ranges":
            return check_ranges(options, file)
        if options.case == "phases":
            return check_phases(options, file)
        run(options, file)
        check_merged(options, folder, file)


main()
