# SPDX-License-Identifier: BSD-3-Clause
"""A program of others, and how it ended."""
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from session import end_session  # noqa: E402

SHARE = re.compile(r"tutti-mpi: (\d+) of (\d+) collective calls")
PASSED_ON = re.compile(r"tutti-mpi: (\d+) were passed on: (.*)")
# The library's report and Tutti's table of calls behind it. A program may have left a line unfinished before them.
REPORT = re.compile(r"(tutti(-mpi)?: .*|^operation +call +up to .*|"
                    r"^[a-z_]+ +[a-z]+ +.* \d+ +\d+ +\d+\.\d+ +\d+\.\d+)\n?", re.MULTILINE)
SHORTEST_LIMIT = 120  # seconds, with the library
SKIPPED = "skips itself"  # why a program did not pass that lacks something else than the library
SLOWER = 10  # as long as this times the run without the library, a program does not count as one that hangs


@dataclasses.dataclass
class Output:
    """What a program has printed, without the library's lines."""
    code: int
    text: str  # stdout, then stderr


@dataclasses.dataclass
class Job:
    suite: str
    name: str
    ranks: int
    command: list
    judge: object  # function of an Output: empty, or in words why the program has failed
    limit: float = 180  # seconds without the library
    folder: pathlib.Path = None  # to run in; a new empty one if None
    files: list = dataclasses.field(default_factory=list)  # linked into the new folder
    environment: dict = dataclasses.field(default_factory=dict)
    mpi: pathlib.Path = None  # MPI's library, if the program loads it only later
    launcher: list = None  # of its own MPI; the runner's if None
    needs_library: bool = False  # and so is not run without

    @property
    def key(self):
        return f"{self.suite} | {self.name} | {self.ranks}"


@dataclasses.dataclass
class End:
    why: str  # it has failed; empty if it has passed
    seconds: float
    through: int = 0
    calls: int = 0
    passed_on: dict = dataclasses.field(default_factory=dict)  # numbers of calls by reason
    text: str = ""


class Runner:
    """Starts jobs under the launcher, with or without the library."""

    def __init__(self, launcher, library, scratch):
        self.launcher, self.library, self.scratch = launcher, library, scratch

    def run(self, job, limit, preload):
        with tempfile.TemporaryDirectory(dir=self.scratch) as new:
            folder = job.folder or pathlib.Path(new)
            for file in job.files:
                (folder / file.name).symlink_to(file)
            return self.start(job, limit, preload, folder, pathlib.Path(new))

    def start(self, job, limit, preload, folder, logs):
        words = [f"{name}={value}" for name, value in job.environment.items()]
        if preload:
            libraries = ":".join(str(path) for path in (self.library, job.mpi) if path)
            words += [f"LD_PRELOAD={libraries}", "TUTTI_MPI_REPORT=1"]
        launcher = job.launcher or self.launcher
        command = launcher + ["-n", str(job.ranks), "env"] + words + [str(word) for word in job.command]
        with open(logs / "interop-out", "w+b") as out, open(logs / "interop-err", "w+b") as err:
            start = time.monotonic()
            process = subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, start_new_session=True)
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                process.terminate()
                code = None
            finally:
                end_session(process.pid)
                process.wait()
            return self.judged(job, code, time.monotonic() - start, limit, preload, said(out), said(err))

    @staticmethod
    def judged(job, code, seconds, limit, preload, out, err):
        shares = SHARE.findall(err)
        through, calls = (sum(int(share[i]) for share in shares) for i in (0, 1))
        passed_on = {}
        for count, reason in PASSED_ON.findall(err):
            passed_on[reason] = passed_on.get(reason, 0) + int(count)
        text = out + REPORT.sub("", err)
        if code is None:
            why = f"hangs: no end after {limit:.0f} s"
        else:
            why = job.judge(Output(code, text))
            if not why and preload and code == 0 and not shares:
                why = "no report of the library: it was not loaded, or MPI_Finalize did not reach it"
        return End(why, seconds, through, calls, passed_on, out + err)


def said(file):
    file.seek(0)
    return file.read().decode("utf-8", errors="replace")


def limit_with(seconds):
    return max(SHORTEST_LIMIT, SLOWER * seconds)


def last_words(text, count=12):
    lines = [line[:200] for line in text.splitlines() if line.strip()]
    return "\n".join(f"      {line}" for line in lines[-count:])


# One machine; Open MPI counts its cores and asks who is root.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def is_for_open_mpi(library):
    """Its handles are addresses in the MPI's library, which the library therefore names."""
    return library.exists() and b"libmpi.so.40" in library.read_bytes()


def launchers(open_mpi):
    """The launcher of an MPI, as it is called where another MPI is installed too."""
    names = ("mpiexec.openmpi",) if open_mpi else ("mpiexec.mpich", "mpiexec.hydra")
    settings = ["env", *(f"{name}={value}" for name, value in OPEN_MPI.items())] if open_mpi else []
    for folder in os.environ["PATH"].split(os.pathsep):
        for name in names:
            path = pathlib.Path(folder) / name
            if path.exists():
                yield [*settings, str(path)]
