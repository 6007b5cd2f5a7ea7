#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs PyTorch's own tests of process groups (torch/testing/_internal/distributed/distributed_test.py) on tutti and gloo.

    upstream.py [--ranks 3] [--only PART] [--backends tutti gloo] [--table FILE] [--mpiexec mpiexec]

The tests start their own processes and test by the backend's name; here mpiexec starts them, and for tutti each test of
that name takes the branch for gloo. A test that fails or hangs ends its job, and the next job goes on behind it.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types

LIMIT = 40.0


class Backend(str):
    """The name of a backend that passes for gloo in comparisons."""

    def __eq__(self, other):
        return str.__eq__(self, other) or other == "gloo"

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


def load(name):
    """The module of PyTorch's tests for a backend."""
    os.environ["BACKEND"] = name
    import torch.testing._internal.common_distributed as common
    import torch.testing._internal.distributed as package

    path = pathlib.Path(list(package.__path__)[0]) / "distributed_test.py"
    text = path.read_text()
    line = 'BACKEND = os.environ["BACKEND"]'
    assert line in text, "PyTorch's tests have changed: there is no line " + line
    for names in common.DistTestCases.backend_feature.values():
        if "gloo" in names:
            names.add(name)
    module = types.ModuleType("distributed_test")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    module.NamedBackend = Backend
    exec(compile(text.replace(line, f"BACKEND = NamedBackend({name!r})"), str(path), "exec"), module.__dict__)
    return module


def run_one(module, case, name, rank, size, folder):
    """Runs one test on this rank; returns (outcome, reason)."""
    import unittest
    from datetime import timedelta

    import torch.distributed as dist
    from torch.testing._internal.common_distributed import TEST_SKIPS
    from torch.testing._internal.common_utils import set_rng_seed

    for part in ("barrier", "test_dir", "init_dir"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    os.environ["TEMP_DIR"] = str(folder)
    module.Barrier.barrier_id = 0
    set_rng_seed(1234)
    try:
        test = case(name)
        test.rank = rank
        test.file_name = str(folder / "store")
        timeout = timedelta(seconds=module.CUSTOM_PG_TIMEOUT.get(name, 30))
        dist.init_process_group(init_method="file://" + test.file_name, backend=str(module.BACKEND), world_size=size,
                                rank=rank, timeout=timeout)
        test._barrier()
        getattr(test, name)()
        test._barrier()
        dist.destroy_process_group()
        return "pass", ""
    except unittest.SkipTest as skip:
        outcome = ("skip", str(skip))
    except SystemExit as end:
        reasons = [skip.message for skip in TEST_SKIPS.values() if skip.exit_code == end.code]
        outcome = ("skip", reasons[0]) if reasons else ("fail", f"exit({end.code})")
    except BaseException as error:
        return "fail", f"{type(error).__name__}: {error}"
    test._barrier()
    dist.destroy_process_group()
    return outcome


def all_alike(folder, size):
    """All ranks failed for one reason that is no matter of communication, such as a missing package."""
    kinds = {json.loads((folder / f"rank{rank}").read_text())[1].split(":")[0] for rank in range(size)}
    return len(kinds) == 1 and kinds <= {"NameError", "IndexError", "ModuleNotFoundError", "ImportError", "AssertionError"}


def work(backend, first, names, folder, rank, size):
    if backend == "tutti":
        import tutti.torch  # noqa: F401
    import torch.distributed as dist

    module = load(backend)

    class Case(module.TestDistBackend, module.DistributedTest._DistTestBase):
        pass

    os.environ["MASTER_ADDR"] = "127.0.0.1"
    for number in range(first, len(names)):
        at = folder / str(number)
        start = time.monotonic()
        outcome, reason = run_one(module, Case, names[number], rank, size, at)
        (at / f"rank{rank}.part").write_text(json.dumps([outcome, reason[:300], time.monotonic() - start]))
        (at / f"rank{rank}.part").rename(at / f"rank{rank}")
        found = []
        for other in range(size):
            while not (at / f"rank{other}").exists():
                if time.monotonic() - start > LIMIT:
                    os._exit(1)
                time.sleep(0.002)
            found.append(json.loads((at / f"rank{other}").read_text())[0])
        if "fail" in found and ("pass" in found or "skip" in found or not all_alike(at, size)):
            os._exit(1)  # ranks may wait for others
        if "fail" in found:
            dist.destroy_process_group()
    os._exit(0)


def outcome_of(folder, size):
    parts = []
    for rank in range(size):
        path = folder / f"rank{rank}"
        parts.append(json.loads(path.read_text()) if path.exists() else ["fail", f"rank {rank} did not end", LIMIT])
    failed = [part for part in parts if part[0] == "fail"]
    told = [part for part in failed if "did not end" not in part[1]]
    return (told or failed or [part for part in parts if part[0] == "skip"] or parts)[0]


def run_all(backend, names, arguments, kept):
    results = kept.get(backend, {})
    first = len(results)
    size = arguments.ranks
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        (folder / "names").write_text("\n".join(names))
        while first < len(names):
            environment = dict(os.environ, WORLD_SIZE=str(size), OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo",
                               TUTTI_CALIBRATION="off", TUTTI_TUNING="off")
            for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
                environment.pop(name, None)
            job = subprocess.Popen([*arguments.mpiexec.split(), "-n", str(size), sys.executable, __file__, "--worker",
                                    backend, str(first), made], env=environment, stdout=subprocess.DEVNULL,
                                   stderr=None if arguments.verbose else subprocess.DEVNULL)
            reached, since = first, time.monotonic()
            while job.poll() is None:
                time.sleep(0.2)
                while reached < len(names) and all((folder / str(reached) / f"rank{r}").exists() for r in range(size)):
                    reached, since = reached + 1, time.monotonic()
                if time.monotonic() - since > (2 if reached > first else 10) * LIMIT:  # the first waits for imports
                    job.terminate()
            last = first
            while last < len(names) and (folder / str(last)).exists():
                results[names[last]] = outcome_of(folder / str(last), size)
                last += 1
            if last == first:
                sys.exit(f"{backend}: no test ran; --verbose shows why")
            print(f"{backend}: {last} of {len(names)}, last {names[last - 1]}: {results[names[last - 1]]}", flush=True)
            first = last
            if arguments.json:
                pathlib.Path(arguments.json).write_text(json.dumps({**kept, backend: results}, indent=1))
    return results


def count(results, kind):
    return sum(result[0] == kind for result in results.values())


def table(all_results, arguments, tests):
    import torch

    lines = [f"PyTorch {torch.__version__.split('+')[0]}, {tests} tests, {arguments.ranks} ranks:", "",
             "| backend | pass | fail | skipped |", "|---|---|---|---|"]
    for backend, results in all_results.items():
        lines.append(f"| {backend} | {count(results, 'pass')} | {count(results, 'fail')} | {count(results, 'skip')} |")
    tutti, gloo = all_results.get("tutti", {}), all_results.get("gloo", {})
    good = [name for name in tutti if gloo.get(name, [""])[0] == "pass"]
    if good:
        both = sum(tutti[name][0] == "pass" for name in good)
        lines += ["", f"Of the {len(good)} tests that gloo passes, tutti passes {both} ({100 * both / len(good):.1f} %)."]
    differ = [name for name in tutti if name in gloo and tutti[name][0] != gloo[name][0]]
    failed = [name for name in tutti if tutti[name][0] == "fail" and name not in differ]
    if differ or failed:
        lines += ["", "| test | tutti | gloo | reason |", "|---|---|---|---|"]
        for name in differ + failed:
            reason = (tutti[name] if tutti[name][0] != "pass" else gloo[name])[1]
            reason = " ".join(reason.partition("To execute this test")[0].split())[:120].replace("|", "/")
            lines.append(f"| `{name}` | {tutti[name][0]} | {gloo.get(name, ['-'])[0]} | {reason} |")
    return "\n".join(lines) + "\n"


def write_table(path, text):
    """Puts the table between the marks of a page."""
    begin, end = "<!-- upstream tests: begin -->\n", "<!-- upstream tests: end -->\n"
    page = pathlib.Path(path).read_text()
    head, rest = page.split(begin)
    pathlib.Path(path).write_text(head + begin + text + end + rest.split(end)[1])


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--worker":
        backend, first, folder = sys.argv[2:5]
        rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("SLURM_PROCID"))))
        names = (pathlib.Path(folder) / "names").read_text().split()
        work(backend, int(first), names, pathlib.Path(folder), rank, int(os.environ["WORLD_SIZE"]))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--backends", nargs="+", default=["tutti", "gloo"])
    parser.add_argument("--table", help="page that gets the table, between its marks")
    parser.add_argument("--json", help="file that gets each test's outcome; if there is one, the run goes on behind it")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    os.environ["WORLD_SIZE"] = str(arguments.ranks)
    base = load("gloo").DistributedTest._DistTestBase
    names = sorted(name for name in dir(base) if name.startswith("test_") and arguments.only in name)
    resumes = arguments.json and pathlib.Path(arguments.json).exists()
    all_results = json.loads(pathlib.Path(arguments.json).read_text()) if resumes else {}
    for backend in arguments.backends:
        all_results[backend] = run_all(backend, names, arguments, all_results)
    text = table(all_results, arguments, len(names))
    print(text)
    if arguments.table:
        write_table(arguments.table, text)


if __name__ == "__main__":
    main()
