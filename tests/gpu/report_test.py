# SPDX-License-Identifier: BSD-3-Clause
"""report.py on what go might have left: steps, tests, shares, bars, profiles and the exit status."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile

import report

LIST = "memory:\n  device   yes\n\ndevice memory:\nNCCL: version 2.28.9\n\nlibraries:\n"
TESTS = ("$ gpu_all --gtest_filter=Nccl.*\n[ RUN      ] Nccl.Works\n[       OK ] Nccl.Works (1 ms)\n"
         "[ RUN      ] Nccl.Fails\n[  FAILED  ] Nccl.Fails (1 ms)\n[==========] 2 tests from 1 test suite ran. (2 ms total)\n"
         "[  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:\n")
# A first launch of one block loads the code of RowBody.
PROFILE = ('==PROF== Connected\n"ID","Kernel Name","Grid Size","Metric Name","Metric Unit","Metric Value"\n'
           '"0","void run_warps<RowBody<X>>(X)","(1, 1, 1)","gpu__time_duration.sum","ns","900"\n'
           '"1","void run_warps<RowBody<X>>(X)","(64, 1, 1)","gpu__time_duration.sum","ns","1,500"\n'
           '"2","void run_warps<RowBody<X>>(X)","(64, 1, 1)","gpu__time_duration.sum","us","2.5"\n'
           '"3","sm90_gemm(int)","(1, 1, 1)","gpu__time_duration.sum","ms","0.001"\n')


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


def point(algorithm, size, total, wrong=0):
    return {"operation": "allreduce", "datatype": "float32", "bytes": size, "algorithm": algorithm, "wrong": wrong,
            "latency_us": {"p50": total}, "busbw_gb_s": 1.0, "queued_us": {"launch": total, "total": total}}


def fill(folder, wrong):
    (folder / "facts.txt").write_text("date: today\nGPU: one\n", encoding="utf-8")
    steps = [("facts", "list-1", 0), ("tests", "test-nccl-1", 1), ("dlrm", "dlrm-fp32-graph", "none"), ("nccl", "late", 124)]
    (folder / "steps.tsv").write_text("".join(f"{p}\t{n}\t{c}\t3\t40\n" for p, n, c in steps), encoding="utf-8")
    logs, figures = folder / "logs", folder / "figures"
    logs.mkdir()
    figures.mkdir()
    (logs / "list-1.log").write_text(LIST, encoding="utf-8")
    (logs / "test-nccl-1.log").write_text(TESTS, encoding="utf-8")
    sizes = ((8, 10.0, 11.9), (64, 10.0, 12.1), (1 << 20, 100.0, 101.9), (1 << 23, 100.0, 102.1))
    points = [p for size, raw, ours in sizes
              for p in (point("raw-nccl", size, raw), point("nccl:direct", size, ours, wrong))]
    points.append({**point("nccl:direct", 16, 5.0), "skipped": "no"})
    write = lambda name, document: (figures / name).write_text(json.dumps(document), encoding="utf-8")
    write("nccl-float32.json", {"points": points})
    write("several-0-1.json", {"points": points[:2]})
    write("lookup-float32-32-0.json", {"type": "float32", "rows": 9, "bag": 32, "zipf": 0.0, "batch": 7, "copy_gb_per_s": 1,
                                       "forward_us": 10.0, "backward_us": 20.0, "forward_over_copy": 0.8,
                                       "backward_over_copy": 0.5})
    write("torch.json", {"lookups": [{"type": "float32", "bag": 32, "zipf": 0.0, "forward_us": 20.0, "backward_us": 30.0}],
                         "dlrm": [{"batch": 2048, "way": "fp32", "ms": 3.0}], "gloo": []})
    write("dlrm-fp32-graph.json", {"phases": {"batch 2048": 1.5}})
    write("launches.json", {"items_us": 2.0})
    (figures / "profile-x.csv").write_text(PROFILE, encoding="utf-8")
    (figures / "combine.json").write_text("{", encoding="utf-8")


def status_of(folder):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        sys.argv = ["report.py", str(folder), str(folder)]
        return report.main(), printed.getvalue()


def main():
    with tempfile.TemporaryDirectory() as name:
        empty = pathlib.Path(name)
        (empty / "steps.tsv").write_text("facts\tlist-1\t0\t1\t40\n", encoding="utf-8")
        status, text = status_of(empty)
        expect(status == 0 and "NO GPU" in text, "an empty folder")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fill(folder, 1)
        status, text = status_of(folder)
        made = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        expect(status == 1, "a step that failed")
        for line in ("1 of 4 steps ended well", "over its 40 s", "left out: no time",
                     "test-nccl-1: Nccl.Fails", "WRONG RESULT", "RowBody", "items_us", "its figures are not whole"):
            expect(line in text, f"'{line}' in\n{text}")
        expect([r["met"] for r in made["nccl"]] == [True, False, True, False, True], f"overheads {made['nccl']}")
        expect(made["tests"][0]["passed"] == 1 and made["tests"][0]["failed"] == 1, f"tests {made['tests']}")
        expect(made["lookups"][0]["torch_forward_us"] == 20.0, "PyTorch's lookup")
        expect(made["dlrm"][0]["torch_ms"] == 3.0, "PyTorch's step")
        expect(made["profiles"]["profile-x"] == {"RowBody": {"launches": 2, "us": 4.0}, "sm90_gemm": {"launches": 1, "us": 1.0}},
               f"profile {made['profiles']}")
    print("report.py: all as expected")


main()
