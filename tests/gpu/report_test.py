# SPDX-License-Identifier: BSD-3-Clause
"""report.py on figures made up: shares, bars, counts and the exit status."""
import json
import pathlib
import sys
import tempfile

import report


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


def nccl_point(algorithm, size, total, wrong=0):
    return {"operation": "allreduce", "datatype": "float32", "bytes": size, "algorithm": algorithm, "wrong": wrong,
            "latency_us": {"p50": total}, "busbw_gb_s": 1.0, "queued_us": {"launch": total, "device": total, "total": total}}


def write(folder, name, document):
    (folder / name).write_text(json.dumps(document), encoding="utf-8")


def fill(folder, wrong):
    sizes = ((8, 10.0, 11.9), (64, 10.0, 12.1), (1 << 20, 100.0, 101.9), (1 << 23, 100.0, 102.1))
    points = [p for size, raw, ours in sizes
              for p in (nccl_point("raw-nccl", size, raw), nccl_point("nccl:direct", size, ours, wrong))]
    points.append({**nccl_point("nccl:direct", 16, 5.0), "skipped": "no"})
    write(folder, "nccl-float32.json", {"machine": {"ranks": 1}, "points": points})
    write(folder, "staging-2.json", {"machine": {"ranks": 2}, "points": [nccl_point("staged", 4096, 50.0)]})
    rows = {"type": "float32", "dim": 128, "copy_gb_per_s": 1000.0}
    write(folder, "kernels-float32-some.json", {**rows, "bag": 32, "zipf": 0.0, "forward_gb_per_s": 850.0,
                                                "backward_gb_per_s": 590.0})
    write(folder, "kernels-float32-one-zipf.json", {**rows, "bag": 1, "zipf": 1.05, "forward_gb_per_s": 1700.0,
                                                    "backward_gb_per_s": 100.0})
    write(folder, "kernels-bfloat16-some.json", {"skipped": "no kernels", "processes": 1})
    write(folder, "dlrm-2048.json", {"ms_per_iteration": 1.25})
    write(folder, "dlrm-2048--graph.json", {"ms_per_iteration": 1.0})
    write(folder, "several-nccl-blocking-0-registered-1.json", {"machine": {"ranks": 8}, "points": points[:2]})
    write(folder, "several-dlrm-hot--graph.json", {"ranks": 8, "ms_per_iteration": 2.0})
    write(folder, "one-row.json", {"backward_us": 250.0})
    (folder / "facts.txt").write_text("date: today\nGPU: one\n", encoding="utf-8")
    for part in report.PARTS:
        (folder / f"{part}.status").write_text("ok\n", encoding="utf-8")
    (folder / "tests.xml").write_text(
        '<testsuite><testcase name="a" status="run"/><testcase name="b" status="notrun"><skipped/></testcase>'
        '<testcase name="c" status="fail"><failure/></testcase></testsuite>', encoding="utf-8")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        empty = report.make(folder)
        expect(all(s.startswith("skipped") for s in empty["parts"].values()), "an empty folder")
        expect(report.markdown(empty), "the table of an empty folder")
        fill(folder, 0)
        made = report.make(folder)
        expect([r["met"] for r in made["nccl"]] == [True, False, True, False, True], f"overheads {made['nccl']}")
        expect([r["set_up"] for r in made["nccl"] if r["ranks"] == 8] == ["blocking-0-registered-1"], "several GPUs")
        expect(made["dlrm_of_several"] == [{"ranks": 8, "lookups": "hot", "graph": True, "ms_per_step": 2.0}],
               f"steps of several GPUs {made['dlrm_of_several']}")
        expect([r["met"] for r in made["kernels"]] == [None, None, True, False], f"shares {made['kernels']}")
        expect(made["tests"] == {"passed": 1, "failed": 1, "skipped": 1, "not_passed": ["b: skipped", "c: failed"]},
               f"counts {made['tests']}")
        expect(len(made["staging"]) == 1 and [r["ms_per_step"] for r in made["dlrm"]] == [1.25, 1.0], "bandwidths and steps")
        text = report.markdown(made)
        expect("| 1 |  | allreduce | float32 | 8 | 11.90 | 10.00 |" in text and "**no**" in text, text)
        expect("updated in 0.250 ms" in text, text)
        expect("| float32 | 128 | 1 | 1.05 | forward | 1000 | 1700 | 1.70 |  |  |" in text, text)
        sys.argv = ["report.py", name]
        expect(report.main() == 1, "a failed test fails the report")
        expect(json.loads((folder / "report.json").read_text(encoding="utf-8"))["dlrm"], "report.json")
        (folder / "tests.xml").unlink()
        expect(report.main() == 0, "all parts are well")
        fill(folder, 3)
        (folder / "tests.xml").unlink()
        expect(report.make(folder)["wrong_results"] == 15 and report.main() == 1, "wrong results fail the report")


main()
