# SPDX-License-Identifier: BSD-3-Clause
"""Makes one report of what go left in its folder: report.md, report.json and steps.log; prints the first.

usage: report.py WORK OUT

WORK holds facts.txt, steps.tsv, logs/ and figures/.

Ends with 0 when every step ended well.
"""
import csv
import json
import pathlib
import re
import sys

PRINTED = 11000  # characters, since not much more of a long output may come back
LOG = 200_000    # bytes of one step's output that are kept
MIB = 1 << 20
SKIPPED = 77


def read(path, most=None):
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")
    return text if most is None or len(text) <= most else text[:most // 2] + "\n[...]\n" + text[-most // 2:]


class Work:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.steps = [self.step(line) for line in read(self.folder / "steps.tsv").splitlines()]
        self.figures = {path.stem: self.figures_of(path) for path in sorted((self.folder / "figures").glob("*.json"))}
        self.facts = read(self.folder / "facts.txt").splitlines()

    @staticmethod
    def step(line):
        part, name, code, seconds, limit = line.split("\t")
        return {"part": part, "name": name, "code": None if code == "none" else int(code), "seconds": int(seconds),
                "limit": int(limit)}

    @staticmethod
    def figures_of(path):
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            return {"broken": True}

    def log(self, name):
        return read(self.folder / "logs" / f"{name}.log")

    def points(self, name):
        return [p for p in self.figures.get(name, {}).get("points", []) if "skipped" not in p]

    def torch(self, part):
        return [e for name in ("torch", "gloo") for e in self.figures.get(name, {}).get(part, []) if "error" not in e]


def why_no_gpu(work):
    found = re.search(r"^ *device +no: (.*)$", work.log("list-1"), re.M)
    if found:
        return found.group(1)
    return "" if re.search(r"^ *device +yes", work.log("list-1"), re.M) else "tutti-commbench --list says nothing of one"


def what_of(step):
    if step["code"] is None:
        return "left out: no time"
    if step["code"] in (124, 137):
        return f"over its {step['limit']} s"
    return {0: "ok", SKIPPED: "skipped", 9: "the sanitizer found errors"}.get(step["code"], f"status {step['code']}")


def counts_of(log):
    ran = re.search(r"\[==========\] (\d+) tests? from .* ran", log)
    number = {kind: re.search(rf"^\[  {kind} +\] (\d+) test", log, re.M) for kind in ("PASSED", "SKIPPED", "FAILED")}
    return {"ran": int(ran.group(1)) if ran else 0,
            **{kind.lower(): int(m.group(1)) if m else 0 for kind, m in number.items()},
            "finished": ran is not None,
            "last": (re.findall(r"\[ RUN      \] (\S+)", log) or [""])[-1],
            "failures": sorted(set(re.findall(r"\[  FAILED  \] (\w+\.\w+)(?: \(|,|$)", log, re.M)))}


def tests(work):
    found = []
    for step in work.steps:
        log = work.log(step["name"])
        if "gtest_filter" in log[:400] and step["code"] is not None:
            found.append({"name": step["name"], "outcome": what_of(step), "seconds": step["seconds"], **counts_of(log)})
    return found


FAULT = re.compile(r"\berror\b|Error|FAILED:|WARN|Invalid|^skipped:|terminate|: Failure$|"
                   r"^=========\s+(?:Invalid|Program hit|Error:|Uninit|Race|Warning|ERROR SUMMARY: [1-9])")


def first_faults(log, most=6):
    """Lines that say what is wrong, and what follows the first; or the last lines."""
    lines = [line.strip() for line in log.splitlines() if line.strip() and not line.startswith("$ ")]
    at = [i for i, line in enumerate(lines) if FAULT.search(line)]
    if not at:
        return lines[-3:]
    wanted = dict.fromkeys([*range(at[0], min(at[0] + 3, len(lines))), *at])
    return [lines[i] for i in list(wanted)[:most]]


def lookups(work):
    torch = {(e["type"], e["bag"], float(e["zipf"])): e for e in work.torch("lookups")}
    rows = []
    for name, f in work.figures.items():
        if not name.startswith("lookup-") or "forward_us" not in f:
            continue
        peer = torch.get((f["type"], f["bag"], float(f["zipf"])), {}) if f["rows"] > 1 else {}
        rows.append({"type": f["type"], "rows": f["rows"], "bag": f["bag"], "zipf": f["zipf"], "batch": f["batch"],
                     "copy_gb_s": f["copy_gb_per_s"],
                     **{f"{way}_us": f[f"{way}_us"] for way in ("forward", "backward")},
                     **{f"{way}_share": f[f"{way}_over_copy"] for way in ("forward", "backward")},
                     **{f"torch_{way}_us": peer.get(f"{way}_us") for way in ("forward", "backward")}})
    return rows


def nccl(work):
    cells = {}
    for name in [n for n in work.figures if n.startswith(("nccl-", "several-"))]:
        for p in work.points(name):
            cells.setdefault((name, p["operation"], p["datatype"], p["bytes"]), {})[p["algorithm"]] = p
    rows = []
    for (name, operation, datatype, size), found in cells.items():
        ours, raw = (found.get(way, {}).get("queued_us") for way in ("nccl:direct", "raw-nccl"))
        if not ours or not raw:
            continue
        added = ours["total"] - raw["total"]
        percent = 100 * added / raw["total"]
        rows.append({"set": name, "operation": operation, "type": datatype, "bytes": size, "tutti_us": ours["total"],
                     "raw_us": raw["total"], "tutti_launch_us": ours["launch"], "raw_launch_us": raw["launch"],
                     "added_us": added, "added_percent": percent,
                     "met": percent <= 2 if size >= MIB else added <= 2})
    return rows


def left_out(work):
    """What was not measured, and why, each reason once."""
    found = {}
    for name, figures in work.figures.items():
        for point in figures.get("points", []):
            if "skipped" in point:
                found.setdefault(f"{name}, {point['algorithm']}: {point['skipped']}", []).append(point["bytes"])
        for key in ("skipped", "broken"):
            if key in figures:
                found.setdefault(f"{name}: {figures[key] if key == 'skipped' else 'its figures are not whole'}", [])
        for entry in (e for part in ("lookups", "dlrm", "gloo") for e in figures.get(part, [])):
            if "error" in entry:
                found.setdefault(f"{name}: {entry['error']}", [])
    return sorted(found)


def wrong_results(work):
    return [f"{name}: {p['operation']} {p['bytes']} {p['algorithm']}: {p.get('fault', 'wrong')}"
            for name in work.figures for p in work.points(name) if p.get("wrong", 0) > 0]


def dlrm(work):
    ways = {"fp32": "fp32", "tf32": "tf32", "bf16": "bf16"}
    torch = {(e["batch"], e["way"]): e["ms"] for e in work.torch("dlrm")}
    rows = []
    for name, f in work.figures.items():
        if not name.startswith("dlrm-"):
            continue
        model, graph = ("kaggle" if "kaggle" in name else "mlperf"), name.endswith("-graph")
        way = next((w for key, w in ways.items() if key in name), "fp32")
        for phase, ms in f.get("phases", {}).items():
            found = re.fullmatch(r"batch (\d+)", phase)
            if found:
                batch = int(found.group(1))
                rows.append({"model": model, "batch": batch, "way": way, "graph": graph, "ms": ms,
                             "torch_ms": torch.get((batch, way)) if model == "mlperf" else None})
    return sorted(rows, key=lambda r: (r["model"], r["batch"], r["way"], not r["graph"]))


def staging(work):
    gloo = {(e["operation"], e["bytes"]): e["us"] for e in work.torch("gloo")}
    return [{"set": name, "operation": p["operation"], "bytes": p["bytes"], "way": p["algorithm"],
             "us": p["latency_us"]["p50"], "gb_s": p["busbw_gb_s"], "gloo_us": gloo.get((p["operation"], p["bytes"]))}
            for name in ("staging", "staging-thread") for p in work.points(name)]


def short_name(kernel):
    """The body of a kernel of Tutti's, the function's name of others."""
    found = re.search(r"(\w+Body|AddBias|Deactivate|SumRows|Fill|ConvertRows|PackRows|Convert|AddPartials|DivideRows|AddRows)\b", kernel)
    return found.group(1) if found else re.sub(r"^(void )?(\w+::)*", "", kernel).split("<")[0].split("(")[0][:40]


def profile_of(path):
    """{kernel: launches and microseconds} of a file of ncu. The first launch of a function only loads its code if it has
    one block and others have more; it does not count."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.startswith('"')]
    launches = {}
    for row in csv.DictReader(lines):
        scale = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}.get(row["Metric Unit"])
        if scale is None:
            continue
        is_one_block = row.get("Grid Size", "").replace(" ", "") == "(1,1,1)"
        launch = (is_one_block, scale * float(row["Metric Value"].replace(",", "")))
        launches.setdefault(row["Kernel Name"], []).append(launch)
    found = {}
    for name, of_one in launches.items():
        if of_one[0][0] and not all(is_one_block for is_one_block, _ in of_one):
            of_one = of_one[1:]
        kernel = found.setdefault(short_name(name), {"launches": 0, "us": 0.0})
        kernel["launches"] += len(of_one)
        kernel["us"] += sum(us for _, us in of_one)
    return found


def profiles(work):
    return {path.stem: profile_of(path) for path in sorted((work.folder / "figures").glob("profile-*.csv"))}


def make(work):
    return {"facts": work.facts, "no_gpu": why_no_gpu(work), "steps": work.steps, "tests": tests(work),
            "lookups": lookups(work), "nccl": nccl(work), "dlrm": dlrm(work), "staging": staging(work),
            "profiles": profiles(work), "left_out": left_out(work), "wrong_results": wrong_results(work),
            "figures": work.figures}


def cell(value):
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)


def size_text(size):
    for unit, name in ((1 << 30, "G"), (MIB, "M"), (1 << 10, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def table(title, head, rows):
    if not rows:
        return []
    lines = [[cell(c) for c in row] for row in rows]
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    return ["", title] + ["  ".join(c.rjust(w) for c, w in zip(line, widths)).rstrip() for line in [head, *lines]]


def ratio(numerator, denominator):
    return None if not numerator or not denominator else numerator / denominator


def steps_text(work, report):
    bad = [s for s in report["steps"] if s["code"] not in (0, SKIPPED)]
    lines = ["", f"{len(report['steps']) - len(bad)} of {len(report['steps'])} steps ended well."]
    for step in bad:
        lines.append(f"* {step['name']}: {what_of(step)} ({step['seconds']} s)")
        if step["code"] is not None:
            lines += [f"    {line[:170]}" for line in first_faults(work.log(step["name"]))]
    return lines


def tests_text(report):
    lines = table("TESTS", ["set", "passed", "failed", "skipped", "s", "outcome"],
                  [[t["name"], t["passed"], t["failed"], t["skipped"], t["seconds"],
                    t["outcome"] if t["finished"] else f"{t['outcome']}, in {t['last']}"] for t in report["tests"]])
    return lines + [f"* {t['name']}: {name}" for t in report["tests"] for name in t["failures"]]


def dlrm_text(report):
    """A line for each size; beside Tutti's times PyTorch's, and PyTorch / Tutti."""
    sizes, ways = {}, ("fp32", "tf32", "bf16")
    for r in report["dlrm"]:
        sizes.setdefault((r["model"], r["batch"]), {})[(r["way"], r["graph"])] = r
    rows = []
    for (model, batch), found in sorted(sizes.items()):
        row = [model, batch, found.get(("fp32", False), {}).get("ms")]
        for way in ways:
            r = found.get((way, True), {})
            row += [r.get("ms"), r.get("torch_ms"), ratio(r.get("torch_ms"), r.get("ms"))]
        rows.append(row)
    head = ["model", "batch", "direct"] + [text for way in ways for text in (f"{way} graph", "torch", "ratio")]
    return table("DLRM, ms a step (PyTorch eager; PyTorch / Tutti)", head, rows)


def staging_text(report):
    cells = {}
    for r in report["staging"]:
        way = "thread" if r["set"] == "staging-thread" else r["way"]
        cells.setdefault((r["operation"], r["bytes"]), {"gloo": r["gloo_us"]})[way] = r["us"]
    return table("TWO RANKS ON THE GPU, through the host, us (thread: with a progress thread)",
                 ["operation", "bytes", "staged", "thread", "mpi", "gloo"],
                 [[operation, size_text(size), *(found.get(way) for way in ("staged", "thread", "mpi", "gloo"))]
                  for (operation, size), found in cells.items()])


def shares_text(report):
    """Of the bandwidth of a copy."""
    lines = []
    for name in ("combine", "interaction"):
        shares = {k: v for k, v in report["figures"].get(name, {}).items() if k.endswith(("_over_copy", "_us"))}
        if shares:
            lines.append(f"{name}: " + ", ".join(f"{key} {cell(value)}" for key, value in shares.items()))
    return lines


def figures_text(report):
    lines = dlrm_text(report)
    lines += table("LOOKUPS, dim 128, batch 16384: us, share of a copy's bandwidth, PyTorch's us, PyTorch / Tutti",
                   ["type", "rows", "bag", "zipf", "fwd", "share", "torch", "ratio", "bwd", "share", "torch", "ratio"],
                   [[r["type"], r["rows"], r["bag"], r["zipf"], r["forward_us"], r["forward_share"],
                     r["torch_forward_us"], ratio(r["torch_forward_us"], r["forward_us"]), r["backward_us"],
                     r["backward_share"], r["torch_backward_us"], ratio(r["torch_backward_us"], r["backward_us"])]
                    for r in report["lookups"]])
    lines += shares_text(report)
    launches = {k: v for k, v in report["figures"].get("launches", {}).items() if k.endswith("_us")}
    if launches:
        lines.append("host's time of a launch: " + ", ".join(f"{key} {cell(value)}" for key, value in launches.items()))
    lines += table("NCCL, queued calls, us (bar: 2 us added, or 2 % from 1 MiB on)",
                   ["set", "operation", "bytes", "Tutti", "NCCL", "launch", "NCCL's", "added", "%", "bar"],
                   [[r["set"], r["operation"], size_text(r["bytes"]), r["tutti_us"], r["raw_us"], r["tutti_launch_us"],
                     r["raw_launch_us"], r["added_us"], r["added_percent"], r["met"]] for r in report["nccl"]])
    return lines + staging_text(report) + profiles_text(report)


def profiles_text(report):
    """The kernels that take most of the time."""
    lines = []
    for name, kernels in report["profiles"].items():
        most = sorted(kernels.items(), key=lambda item: -item[1]["us"])[:12]
        lines += table(f"{name}: us of kernels by ncu, {sum(k['us'] for k in kernels.values()):.0f} in all",
                       ["kernel", "launches", "us", "a launch"],
                       [[kernel, k["launches"], k["us"], k["us"] / k["launches"]] for kernel, k in most])
    return lines


def device_text(work):
    """What the library says of the device, on one rank and on two."""
    lines = []
    for name in ("list-1", "list-2"):
        found = re.search(r"^device memory:\n(.*?)(?:\n\n|\Z)", work.log(name), re.M | re.S)
        lines += ["", f"{name}:"] + [line[:170] for line in (found.group(1).splitlines() if found else [])][:14]
    return lines


def text_of(work, report):
    lines = ["TUTTI ON A GPU", *report["facts"]]
    if report["no_gpu"]:
        lines.append(f"NO GPU: {report['no_gpu']}. No figure below is of a GPU.")
    lines += steps_text(work, report) + tests_text(report)
    lines += [f"WRONG RESULT: {line[:200]}" for line in report["wrong_results"][:8]]
    lines += [f"left out: {line[:200]}" for line in report["left_out"][:8]]
    lines += device_text(work) + figures_text(report)
    took = " ".join(f"{s['name']}:{s['seconds']}" for s in report["steps"])
    return "\n".join([*lines, "", f"seconds: {took}"])


def write_logs(work, path):
    with open(path, "w", encoding="utf-8") as file:
        for step in work.steps:
            file.write(f"===== {step['name']}: {what_of(step)}, {step['seconds']} s\n")
            file.write(read(work.folder / "logs" / f"{step['name']}.log", LOG) + "\n")


def main():
    work, out = Work(sys.argv[1]), pathlib.Path(sys.argv[2])
    report = make(work)
    text = text_of(work, report)
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (out / "report.md").write_text("```\n" + text + "\n```\n", encoding="utf-8")
    write_logs(work, out / "steps.log")
    print(text if len(text) <= PRINTED else text[:PRINTED] + "\n[cut: the whole is in report.md]")
    return int(any(s["code"] not in (0, SKIPPED) for s in report["steps"]) or bool(report["wrong_results"]))


if __name__ == "__main__":
    sys.exit(main())
