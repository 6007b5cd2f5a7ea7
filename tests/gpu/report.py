# SPDX-License-Identifier: BSD-3-Clause
"""Makes one table of what tests/gpu/run left in a folder: report.md and report.json, and prints the first."""
import json
import pathlib
import sys
import xml.etree.ElementTree

PARTS = ["build", "tests", "sanitizer", "nccl", "staging", "kernels", "dlrm", "several"]
MIB = 1 << 20


def load(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def facts(folder):
    path = folder / "facts.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    found = {}
    for line in lines:
        if ": " in line:
            found.setdefault(*line.split(": ", 1))
    return found


def statuses(folder):
    found = {}
    for part in PARTS:
        path = folder / f"{part}.status"
        found[part] = path.read_text(encoding="utf-8").strip() if path.is_file() else "skipped: it did not come to that"
    return found


def test_counts(folder):
    """Of the JUnit file of ctest: each test's name and what became of it."""
    path = folder / "tests.xml"
    if not path.is_file():
        return None
    cases = list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
    outcome = {"run": "passed", "fail": "failed", "notrun": "skipped", "disabled": "skipped"}
    results = {case.get("name"): outcome.get(case.get("status"), case.get("status")) for case in cases}
    for case in cases:
        if case.find("skipped") is not None:
            results[case.get("name")] = "skipped"
    counts = {kind: sum(r == kind for r in results.values()) for kind in ("passed", "failed", "skipped")}
    return {**counts, "not_passed": sorted(f"{name}: {r}" for name, r in results.items() if r != "passed")}


def points(folder, pattern):
    for path in sorted(folder.glob(pattern)):
        document = load(path)
        for point in document["points"]:
            if "skipped" not in point:
                yield {**point, "ranks": document["machine"]["ranks"], "file": path.stem}


def wrong_results(folder):
    kinds = ("nccl", "staging", "several-nccl")
    return sum(p.get("wrong", 0) for kind in kinds for p in points(folder, f"{kind}-*.json"))


def set_up(stem):
    """How NCCL was used: "blocking-1-registered-0" of a file of several GPUs; nothing by default."""
    return stem.removeprefix("several-nccl-") if stem.startswith("several-") else ""


def nccl_overhead(folder):
    """Tutti's calls beside NCCL's own, queued behind one another: by the stream's clock and until they return."""
    cells = {}
    for point in [*points(folder, "nccl-*.json"), *points(folder, "several-nccl-*.json")]:
        key = (point["ranks"], set_up(point["file"]), point["operation"], point["datatype"], point["bytes"])
        cells.setdefault(key, {})[point["algorithm"]] = point
    rows = []
    for (ranks, how, operation, datatype, size), found in sorted(cells.items()):
        ours, raw = found.get("nccl:direct"), found.get("raw-nccl")
        if not ours or not raw or "queued_us" not in ours or "queued_us" not in raw:
            continue
        added = ours["queued_us"]["total"] - raw["queued_us"]["total"]
        percent = 100 * added / raw["queued_us"]["total"]
        rows.append({"ranks": ranks, "set_up": how, "operation": operation, "datatype": datatype, "bytes": size,
                     "tutti_us": ours["queued_us"]["total"], "raw_us": raw["queued_us"]["total"],
                     "tutti_launch_us": ours["queued_us"]["launch"], "raw_launch_us": raw["queued_us"]["launch"],
                     "added_us": added, "added_percent": percent,
                     "met": percent <= 2 if size >= MIB else added <= 2})
    return rows


def bandwidths(folder):
    return [{"ranks": p["ranks"], "operation": p["operation"], "bytes": p["bytes"], "algorithm": p["algorithm"],
             "us": p["latency_us"]["p50"], "busbw_gb_s": p["busbw_gb_s"]} for p in points(folder, "staging-*.json")]


def kernels(folder):
    rows = []
    for path in sorted(folder.glob("kernels-*.json")):
        figures = load(path)
        if "skipped" in figures:
            continue
        copy = figures["copy_gb_per_s"]
        # Where caches have some rows, or a bag is one index, nothing is claimed.
        has_bar = figures["bag"] > 1 and figures["zipf"] == 0
        for what, bar in (("forward", 0.8), ("backward", 0.6)):
            share = figures[f"{what}_gb_per_s"] / copy
            rows.append({"type": figures["type"], "dim": figures["dim"], "bag": figures["bag"], "zipf": figures["zipf"],
                         "what": what, "copy_gb_s": copy, "gb_s": figures[f"{what}_gb_per_s"], "share": share,
                         "bar": bar if has_bar else None, "met": share >= bar if has_bar else None})
    return rows


def dlrm(folder):
    rows = []
    for path in folder.glob("dlrm-*.json"):
        _, batch, *graph = path.stem.split("-")
        rows.append({"batch": int(batch), "graph": bool(graph), "ms_per_step": load(path)["ms_per_iteration"]})
    return sorted(rows, key=lambda row: (row["batch"], row["graph"]))


def one_row(folder):
    """Milliseconds of the update of a row that all samples look up."""
    figures = load(folder / "one-row.json")
    return None if figures is None or "skipped" in figures else figures["backward_us"] / 1e3


def dlrm_of_several(folder):
    rows = []
    for path in sorted(folder.glob("several-dlrm-*.json")):
        lookups, *graph = path.stem.removeprefix("several-dlrm-").split("--")
        figures = load(path)
        rows.append({"ranks": figures["ranks"], "lookups": lookups, "graph": bool(graph),
                     "ms_per_step": figures["ms_per_iteration"]})
    return rows


def table(header, rows):
    if not rows:
        return []
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def markdown(report):
    lines = ["# Device memory on a GPU", ""]
    lines += table(["", ""], list(report["facts"].items()))
    lines += table(["part", "outcome"], list(report["parts"].items()))
    tests = report["tests"]
    if tests:
        lines += [f"Tests: {tests['passed']} passed, {tests['failed']} failed, {tests['skipped']} skipped.", ""]
        lines += [f"* {name}" for name in tests["not_passed"]] + [""]
    yes = {True: "yes", False: "**no**", None: ""}
    lines += table(["ranks", "NCCL used", "operation", "type", "bytes", "Tutti µs", "NCCL µs", "launch, Tutti",
                    "launch, NCCL", "added µs", "added %", "bar met"],
                   [[r["ranks"], r["set_up"], r["operation"], r["datatype"], r["bytes"],
                     f"{r['tutti_us']:.2f}", f"{r['raw_us']:.2f}", f"{r['tutti_launch_us']:.2f}", f"{r['raw_launch_us']:.2f}", f"{r['added_us']:.2f}",
                     f"{r['added_percent']:.1f}", yes[r["met"]]] for r in report["nccl"]])
    lines += table(["ranks", "operation", "bytes", "way", "µs", "bus GB/s"],
                   [[r["ranks"], r["operation"], r["bytes"], r["algorithm"], f"{r['us']:.1f}", f"{r['busbw_gb_s']:.2f}"]
                    for r in report["staging"]])
    lines += table(["rows", "dim", "indices a bag", "Zipf", "lookup", "copy GB/s", "GB/s", "share", "bar", "bar met"],
                   [[r["type"], r["dim"], r["bag"], r["zipf"] or "", r["what"], f"{r['copy_gb_s']:.0f}",
                     f"{r['gb_s']:.0f}", f"{r['share']:.2f}", r["bar"] or "", yes[r["met"]]]
                    for r in report["kernels"]])
    if report["one_row_ms"] is not None:
        lines += [f"A row that 65536 samples look up is updated in {report['one_row_ms']:.3f} ms.", ""]
    lines += table(["GPUs", "DLRM, lookups", "CUDA graph", "ms a step"],
                   [[r["ranks"], r["lookups"], "yes" if r["graph"] else "no", f"{r['ms_per_step']:.3f}"]
                    for r in report["dlrm_of_several"]])
    lines += table(["DLRM, batch", "CUDA graph", "ms a step"],
                   [[r["batch"], "yes" if r["graph"] else "no", f"{r['ms_per_step']:.3f}"] for r in report["dlrm"]])
    if report["wrong_results"]:
        lines += [f"**{report['wrong_results']} results of the benchmarks were wrong.**", ""]
    return "\n".join(lines)


def make(folder):
    return {"facts": facts(folder), "parts": statuses(folder), "tests": test_counts(folder),
            "nccl": nccl_overhead(folder), "staging": bandwidths(folder), "kernels": kernels(folder),
            "dlrm": dlrm(folder), "one_row_ms": one_row(folder), "dlrm_of_several": dlrm_of_several(folder),
            "wrong_results": wrong_results(folder)}


def main():
    folder = pathlib.Path(sys.argv[1])
    report = make(folder)
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    text = markdown(report)
    (folder / "report.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"{folder}/report.md, {folder}/report.json")
    failed = any(s.startswith("failed") for s in report["parts"].values()) or report["wrong_results"] > 0
    return 1 if failed or (report["tests"] or {}).get("failed", 0) > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
