# SPDX-License-Identifier: BSD-3-Clause
"""Runs the workloads and studies of tutti-sgd, small, and looks at what they print and write. Times are not judged."""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

QUICK = ["--study-steps=2", "--study-warm-up=2", "--backward-ms=5"]
NETWORK = ["--workload=resnet18"]
TASK = ["--data=generated", "--samples=200", "--features=8", "--batch-size=20", "--max-steps=8"]
SHAPES = 11689512


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


class Runner:
    def __init__(self, options):
        self.command = shlex.split(options.launcher) + ["-n", str(options.ranks), options.program]
        self.ranks = options.ranks
        self.folder = tempfile.TemporaryDirectory(prefix="tutti-sgd-")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, flags):
        return subprocess.run(self.command + flags, capture_output=True, text=True, timeout=110, check=False)

    def study(self, flags, draws=True):
        """Runs to a good end; gives the text and the JSON document. The SVG is well-formed."""
        files = [f"--json-file={self.path('out.json')}"] + ([f"--svg-file={self.path('out.svg')}"] if draws else [])
        done = self.start(flags + files)
        expect(done.returncode == 0, f"{flags}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr}")
        with open(self.path("out.json"), encoding="utf-8") as file:
            document = json.load(file)
        expect(document["ranks"] == self.ranks, "the number of ranks")
        if draws:
            root = xml.etree.ElementTree.parse(self.path("out.svg")).getroot()
            expect(root.tag.endswith("svg"), "an SVG document")
        return done.stdout, document

    def refused(self, flags, word):
        done = self.start(flags)
        expect(done.returncode == 1 and word in done.stderr, f"{flags} should be refused, naming {word}: {done.stderr}")


def workload(run):
    modes = ["none", "naive", "flat", "bucketed", "overlap", "hook=bf16", "hook=fp16", "hook=powersgd"]
    flags = QUICK + NETWORK + [f"--study-modes={','.join(modes)}", "--power-sgd-start=3", "--bucket-bytes=4M"]
    for load in ("sleep", "compute"):
        text, document = run.study(flags + [f"--backward={load}"], draws=False)
        expect("every element of the last averages is right" in text, f"averages\n{text}")
        found = document["modes"]
        expect([f["mode"] for f in found] == modes, "the modes")
        expect(all(f["step_ms"] >= 4.9 or load == "compute" for f in found), "no step is shorter than backward")
        by_name = {f["mode"]: f["bytes_per_step"] for f in found}
        expect(by_name["none"] == 0 and by_name["flat"] == by_name["naive"] == 4 * SHAPES, "bytes that are sent")
        expect(4 * SHAPES <= by_name["overlap"] < 4.1 * SHAPES, "bytes of buckets")
        expect(by_name["hook=bf16"] < 2.1 * SHAPES and by_name["hook=powersgd"] < 0.2 * SHAPES, "compression")
        expect(found[4]["buckets"] > 5, "buckets of at most 4 MiB")
    text, _ = run.study(QUICK + NETWORK + ["--progress-thread", "--study-modes=overlap"], draws=False)
    expect("is right" in text, f"with a progress thread\n{text}")


def scaling(run):
    for kind, task in (("weak", NETWORK), ("strong", NETWORK), ("weak", TASK), ("strong", TASK)):
        text, document = run.study(QUICK + task + [f"--scaling={kind}"])
        ranks = [point["ranks"] for point in document["points"]]
        expect(ranks[0] == 1 and ranks[-1] == run.ranks and ranks == sorted(set(ranks)), f"ranks {ranks}")
        for point in document["points"]:
            expect({"flat", "overlap"} <= {f["mode"] for f in point["modes"]}, "the modes")
            expect(all(f["efficiency"] > 0 for f in point["modes"]), "efficiencies")
        expect(f"{kind} scaling" in text and "efficiency" in text, text)


def parts(run):
    for task in (NETWORK, TASK):
        text, document = run.study(QUICK + task + ["--breakdown"])
        rows = {row["mode"]: row for row in document["breakdown"]}
        expect({"flat", "bucketed", "overlap"} <= set(rows), f"rows {list(rows)}")
        expect(all(row["communication_ms"] >= row["exposed_ms"] >= 0 for row in rows.values()), "exposed is a part")
        expect("hidden" in text and "forward" in text, text)
    expect(rows["overlap"]["update_ms"] > 0, "the update is timed")


def sweep(run):
    text, document = run.study(QUICK + NETWORK + ["--sweep-buckets"])
    sizes = [point["bucket_bytes"] for point in document["sweep"]]
    expect(sizes[0] == 2**18 and 100 * 2**20 in sizes, f"sizes {sizes}")
    expect(document["sweep"][-1]["auto"] and sizes[-1] > 0 and "(auto)" in text, "the chosen size")
    buckets = [point["buckets"] for point in document["sweep"][:-1]]
    expect(buckets == sorted(buckets, reverse=True) and buckets[0] > buckets[-1], f"fewer, larger buckets: {buckets}")


def errors(run):
    run.refused(NETWORK + ["--study-modes=fast"], "--study-modes")
    run.refused(NETWORK + ["--scaling=weak", "--breakdown"], "--breakdown")
    run.refused(NETWORK + ["--svg-file=a.svg"], "--svg-file")
    run.refused(NETWORK + ["--backward-ms=-1"], "--backward-ms")
    run.refused(QUICK + NETWORK + ["--breakdown", "--svg-file=/nowhere/a.svg"], "/nowhere/a.svg")


PARTS = {"workload": workload, "scaling": scaling, "breakdown": parts, "sweep": sweep, "errors": errors}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--program", required=True)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    options = parser.parse_args()
    PARTS[options.part](Runner(options))
    print("passed")


if __name__ == "__main__":
    main()
