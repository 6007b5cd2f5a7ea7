#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""record_test.py BUILD PROGRAM...: record.py writes a file that docs/results/tables.py takes, and compare.py names a cell
that is slower in another one. The programs are those of BUILD that it runs."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, expected=0):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == expected, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def main():
    sys.path.insert(0, str(HERE.parents[1] / "docs" / "results"))
    import tables
    assert all(pathlib.Path(program).exists() for program in sys.argv[2:]), sys.argv
    with tempfile.TemporaryDirectory() as name:
        before, after = pathlib.Path(name, "before.json"), pathlib.Path(name, "after.json")
        run(HERE / "record.py", "--build", sys.argv[1], "--only", "collectives", "--rounds", 2, "--high", 64, "--output", before)
        report = json.loads(before.read_text(encoding="utf-8"))
        page = "".join(f"### {m['kind']}\n" for m in report["measurements"])
        problems = [problem for m in report["measurements"] for problem in tables.problems_of(m, page)]
        assert not problems, problems
        assert "0 lost, 0 gained, ratios 1.000 times" in run(HERE / "compare.py", before, before)
        measured = report["measurements"][0]
        row = next(i for i, cells in enumerate(measured["rows"]) if cells[0] == "16 B")
        column = measured["columns"].index("alltoall")
        for path, ratio, interval in ((before, "1.00", ["0.90", "1.10"]), (after, "0.50", ["0.40", "0.60"])):
            measured["rows"][row][column][1] = ratio
            measured["intervals"][row][column] = interval
            path.write_text(json.dumps(report), encoding="utf-8")
        said = run(HERE / "compare.py", before, after, expected=1)
        assert "16 B, alltoall: 1.00 (0.90 … 1.10) -> 0.50 (0.40 … 0.60)" in said and "1 lost" in said, said
    print("a record was written, compared with itself, and with a slower one")


if __name__ == "__main__":
    main()
