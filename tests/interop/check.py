#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the runner itself, without MPI: a program that fails, hangs or never loads the library must not pass."""
import contextlib
import io
import pathlib
import sys
import tempfile
import time
import types
import unittest

sys.dont_write_bytecode = True
import applications  # noqa: E402
import benchmarks  # noqa: E402
import every_mpi  # noqa: E402
import mpich  # noqa: E402
import python_tests  # noqa: E402
import run  # noqa: E402
import scalapack  # noqa: E402
import table  # noqa: E402
from get import source_entries  # noqa: E402
from job import REPORT, Job, Output, Runner  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LOADED = ('test -z "$LD_PRELOAD" || { echo "tutti-mpi: 9 of 10 collective calls (90.0 %) went through Tutti";'
          'echo "tutti-mpi: 1 were passed on: intercommunicator"; } >&2;')


def shell(name, script, judge=mpich.judge, limit=20.0):
    return Job("suite", name, 2, ["sh", "-c", script], judge, limit)


class Judges(unittest.TestCase):
    def good(self, judge, text, code=0):
        self.assertEqual(judge(Output(code, text)), "")

    def bad(self, judge, text, code=0):
        self.assertNotEqual(judge(Output(code, text)), "")

    def test_mpich(self):
        self.good(mpich.judge, " No Errors\n")
        self.bad(mpich.judge, "")
        self.bad(mpich.judge, " No Errors\n", 1)
        self.bad(mpich.judge, " No Errors\nwrong value at 3\n")
        self.good(mpich.judge_fatal, "Fatal error", 15)
        self.bad(mpich.judge_fatal, " No Errors\n", 0)
        self.bad(mpich.judge_status, "Fatal error", 15)

    def test_scalapack(self):
        good = "WALL 4 PASSED\nFinished 63 tests, with these results:\n    0 tests completed and failed residual checks"
        self.good(scalapack.judge, good)
        self.bad(scalapack.judge, good.replace("PASSED", "FAILED"))
        self.bad(scalapack.judge, good.replace("  0 tests", " 10 tests"))
        self.bad(scalapack.judge, good, 1)
        self.bad(scalapack.judge, "WALL 4 PASSED\n")
        blas = "SUBROUTINE  TOTAL TESTS  PASSED   FAILED  SKIPPED\n End of Tests."
        self.good(scalapack.judge, blas)
        self.bad(scalapack.judge, "***** Computational check: PDASUM         FAILED  *****\n" + blas)
        self.good(scalapack.judge, "REAL SDRV TESTS:   75 TESTS;   50 PASSED,    0 FAILED.\nDONE BLACS_GRIDEXIT")
        self.bad(scalapack.judge, "REAL SDRV TESTS:   75 TESTS;   50 PASSED,   10 FAILED.\nDONE BLACS_GRIDEXIT")

    def test_python(self):
        judge = python_tests.judge(2)
        self.good(judge, "Ran 72 tests in 1 s\n\nOK\nRan 72 tests in 1 s\n\nOK (skipped=1)\n")
        self.bad(judge, "Ran 72 tests in 1 s\n\nOK\n")
        self.bad(judge, "Ran 72 tests in 1 s\n\nOK\nRan 72 tests in 1 s\n\nFAILED (errors=1)\n")

    def test_benchmarks(self):
        rows = "1        8.18              Pass\n4096     0.39              Pass\n"
        self.good(benchmarks.judge_osu, rows)
        self.bad(benchmarks.judge_osu, rows + "8192     0.39              Fail\n")
        self.bad(benchmarks.judge_osu, "# OSU MPI Allreduce Latency Test\n")
        self.bad(benchmarks.judge_imb, "#bytes #repetitions\n 0 9\n")
        sizes = "".join(f"{i:3}: {i + 1:7} bytes     20 times -->  Integrity check passed\n" for i in range(30))
        self.good(benchmarks.judge_netpipe, sizes)
        self.bad(benchmarks.judge_netpipe, sizes.replace("passed", "failed", 1))
        self.bad(benchmarks.judge_netpipe, sizes[:200])


    def test_nwchem(self):
        good = "  Total SCF energy =    -76.010504991033\n Total times  cpu: 1s\n"
        self.good(applications.judge_nwchem, good)
        self.bad(applications.judge_nwchem, good.replace("76.01050", "76.01051"))
        self.bad(applications.judge_nwchem, good.split("\n", 1)[0])

    def test_bagel(self):
        good = "  10   -99.93241000   0.01  0.66\n  11    -99.93242052    0.00000000   0.67\n * SCF iteration converged.\n"
        self.good(applications.judge_bagel, good)
        self.bad(applications.judge_bagel, good.replace("93242052", "93242252"))
        self.bad(applications.judge_bagel, good.replace("SCF", ""))

    def test_hpcc(self):
        good = "||Ax-b||_oo/(eps*...)= 0.005 ...... PASSED\nFound 0 errors in 4 locations\nSuccess=1\n" \
            "End of HPC Challenge tests.\n"
        self.good(applications.judge_hpcc, good)
        self.bad(applications.judge_hpcc, good.replace("PASSED", "FAILED"))
        self.bad(applications.judge_hpcc, good.replace("Found 0", "Found 20"))
        self.bad(applications.judge_hpcc, good.replace("Success=1", "Success=0"))

    def test_mumps(self):
        for good in ("  Solution is   1.00000012   1.99999976   3.00000000   4.0  5.0\n",
                     " Solution is  (0.99999,2.6E-007) (2.0,-1.7E-007) (3.0,0.0) (4.0,0.0) (5.0,0.0)\n"):
            self.good(applications.judge_mumps, good)
            self.bad(applications.judge_mumps, good.replace("3.0", "3.1"))
        self.bad(applications.judge_mumps, "Solution is\n")

    def test_espresso(self):
        good = "!    total energy              =     -32.94479461 Ry\n   JOB DONE.\n"
        self.good(applications.judge_espresso, good)
        self.bad(applications.judge_espresso, good.replace("4479", "4478"))
        self.bad(applications.judge_espresso, good.split("\n", 1)[0])


class EveryMpi(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.prefix = pathlib.Path(scratch.name)
        (self.prefix / "bin").mkdir()
        (self.prefix / "lib").mkdir()

    def mpiexec(self, text):
        path = self.prefix / "bin" / "mpiexec"
        path.write_text(f"#!/bin/sh\ncat <<'E'\n{text}E\n", encoding="utf-8")
        path.chmod(0o755)

    def test_names(self):
        for text, name in (("MPICH Version:      5.0.2\nMPICH", "MPICH 5.0.2"),
                           ("Intel(R) MPI Library 2021.19.0 for Linux* OS\n", "Intel MPI 2021.19"),
                           ("Open MPI v5.0.11, package: x", "Open MPI 5.0.11"), ("Another", self.prefix.name)):
            self.assertEqual(every_mpi.name_in(text, self.prefix), name)
        (self.prefix / "lib" / "libmpiwrapper.so").touch()
        self.assertEqual(every_mpi.name_in("Open MPI v5.0.11, x", self.prefix), "Open MPI 5.0.11, by mpi_abi_wrapper")

    def test_tests_of_a_program(self):
        self.mpiexec("Running main()\nRequests.\n  Wait\n  Test\n"
                     "Forms/Moving.  # TypeParam\n  Bcast/0  # x\n  Bcast/1\n")
        self.assertEqual(every_mpi.tests_of("program", self.prefix),
                         ["Requests.Wait", "Requests.Test", "Forms/Moving.Bcast"])

    def test_judge(self):
        self.assertEqual(every_mpi.judge(Output(0, "[  PASSED  ] 3 tests\nall ranks passed\n")), "")
        self.assertNotEqual(every_mpi.judge(Output(0, "[  PASSED  ] 0 tests\nall ranks passed\n")), "")
        self.assertNotEqual(every_mpi.judge(Output(0, "")), "")
        self.assertNotEqual(every_mpi.judge(Output(1, "all ranks passed\n")), "")


class Sources(unittest.TestCase):
    def test_only_this_release(self):
        with tempfile.TemporaryDirectory() as folder:
            apt = pathlib.Path(folder)
            (apt / "sources.list.d").mkdir()
            (apt / "sources.list.d" / "a.sources").write_text(
                "Types: deb\n# a remark\nURIs: x\nSuites: stone stone-updates\n\nTypes: deb\nURIs: y\nSuites: other\n")
            (apt / "sources.list").write_text("deb [a=b] z stone main\n# deb z stone main\ndeb z cloud-stone main\n")
            stanzas, lines = source_entries(apt, "stone")
        self.assertEqual(stanzas, "Types: deb-src\nURIs: x\nSuites: stone\n")
        self.assertEqual(lines, "deb-src [a=b] z stone main\n")


class Testlists(unittest.TestCase):
    def test_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder)
            (source / "coll" / "inner").mkdir(parents=True)
            text = "# all\na 4 arg=-count=10 timeLimit=30\nb 2 xfail=1\ninner\n!x:y\n"
            (source / "coll" / "testlist").write_text(text)
            (source / "coll" / "inner" / "testlist").write_text("c 3 resultTest=TestErrFatal env=X=1\n")
            lines = list(mpich.testlist(source, source, pathlib.Path("coll")))
        self.assertEqual([line[1:3] for line in lines], [("a", 4), ("c", 3)])
        first, second = (mpich.make_job(source, "coll", line, 2) for line in lines)
        self.assertEqual((first.name, first.command), ("a -count=10", ["./a", "-count=10"]))
        self.assertEqual((first.limit, first.ranks), (30, 2))
        self.assertEqual((second.name, second.environment, second.judge), ("inner/c", {"X": "1"}, mpich.judge_fatal))


class Report(unittest.TestCase):
    def test_is_no_output_of_the_program(self):
        said = ("tutti-mpi: 2 of 2 collective calls (100.0 %) went through Tutti\n"
                "tutti-mpi: gather   2  through Tutti\n"
                "tutti: calls of rank 0 of MPI_COMM_WORLD; seconds in blocking calls\n"
                "operation            call           up to  way          calls  bytes   seconds   us a call\n"
                "reduce_scatter       blocking       256 B  shm:line       128  12288  0.005499      42.96\n")
        self.assertEqual(REPORT.sub("", said + "wrong value 5.25\n"), "wrong value 5.25\n")
        self.assertEqual(REPORT.sub("", "unfinished" + said), "unfinished")


class Runs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.results = table.Results(self.folder / "results.json")
        self.options = types.SimpleNamespace(
            launcher=str(HERE / "fake_launcher.sh"), library="libm.so.6", baseline=False, folder=self.folder, words=3,
            markdown=self.folder / "table.md")

    def outcome(self, *jobs):
        """The runner's status and last line."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            run.measure(jobs, self.options, self.results)
            status = run.finish(self.results.of(job.key for job in jobs), self.options)
        return status, said.getvalue()

    def test_passes(self):
        status, said = self.outcome(shell("good", LOADED + "echo No Errors"))
        self.assertEqual((status, said.splitlines()[-1]), (0, "1 passed, 0 failed, 0 left out"))
        self.assertIn("90.0 % of 10 | 1 intercommunicator |", self.options.markdown.read_text(encoding="utf-8"))

    def test_few_calls_are_named(self):
        few = shell("few", LOADED.replace("9", "8", 1) + "echo No Errors")
        self.assertIn("under 90 %: suite: few, 2 ranks: 80.0 % of 10, passed on: 1 intercommunicator",
                      self.outcome(few)[1])

    def test_not_loaded(self):
        status, said = self.outcome(shell("plain", "echo No Errors"))
        self.assertEqual(status, 1)
        self.assertIn("no report of the library", said)

    def test_needs_the_library(self):
        job = shell("ours", LOADED + 'test -n "$LD_PRELOAD" && echo No Errors')
        job.needs_library, job.launcher = True, [HERE / "fake_launcher.sh"]
        status, said = self.outcome(job)
        self.assertEqual((status, said.splitlines()[-1]), (0, "1 passed, 0 failed, 0 left out"))

    def test_skips_itself(self):
        jobs = [shell("ours", LOADED + "echo No Errors"), shell("skips", "exit 77", every_mpi.judge)]
        for job in jobs:
            job.needs_library = True
        status, said = self.outcome(*jobs)
        self.assertEqual((status, said.splitlines()[-1]), (0, "1 passed, 0 failed, 1 left out"))
        self.assertIn("left out: suite: skips, 2 ranks: skips itself", said)

    def test_fails_with_the_library_only(self):
        status, said = self.outcome(shell("bad", LOADED + 'test -z "$LD_PRELOAD" && echo No Errors'))
        self.assertEqual((status, said.splitlines()[-1]), (1, "0 passed, 1 failed, 0 left out"))

    def test_fails_without(self):
        good = shell("good", LOADED + "echo No Errors")
        status, said = self.outcome(good, shell("left", "exit 3"))
        self.assertEqual((status, said.splitlines()[-1]), (0, "1 passed, 0 failed, 1 left out"))
        status, said = self.outcome(shell("left", "exit 3"))
        self.assertEqual((status, said.splitlines()[-1]), (1, "0 passed, 0 failed, 1 left out"))

    def test_hangs(self):
        runner, start = Runner([self.options.launcher], self.options.library, self.folder), time.monotonic()
        end = runner.run(shell("hangs", "sleep 60 & sleep 60"), 1, True)
        self.assertIn("hangs", end.why)
        self.assertLess(time.monotonic() - start, 20)


if __name__ == "__main__":
    unittest.main()
