# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own tests: a folder test/mpi of its sources, of the version that is installed. They are configured and built
in the folder of the runner; which programs there are, on how many ranks, says their testlist."""
import os
import pathlib
import re
import shutil
import subprocess

from job import Job

PARTS = ["coll", "comm", "attr", "topo", "threads", "errors/coll", "f77", "f90", "f08"]
SHORT = re.compile(r"^(allred|allgather2|alltoallv|bcasttest|gather|redscat|scantst|coll8|nonblocking2|p_allred)$")
NEEDS = ["util", "dtpools"]  # libraries of the tests
# Their configure leaves this library empty unless MPICH itself is built.
F08_LIBRARY = ["am_libmtest_f08_la_OBJECTS=mtest_f08.lo", "libmtest_f08.la"]
GOOD = re.compile(r"^\s*(No [Ee]rrors|Test Passed)?\s*$")


ABSENT = "not there: name a folder test/mpi of MPICH by --mpich-tests, or let run.py --get bring it"
PLAIN = ["--disable-cxx", "--disable-spawn", "--without-cuda"]


def find(options):
    if options.open_mpi:
        return "they are MPICH's own"
    source, build = source_of(options), options.folder / "mpich"
    words = ["CC=mpicc.mpich", "F77=mpifort.mpich", "FC=mpifort.mpich", "MPICC=mpicc.mpich", "MPIF77=mpifort.mpich",
             "MPIFC=mpifort.mpich", "--with-mpi=/usr"]
    problem = configure(source, build, ["mpicc.mpich", "mpifort.mpich", "make"], words) or make(build, NEEDS) or \
        make(build, ["util"], F08_LIBRARY)
    if problem:
        return problem
    return [job for part in PARTS for job in part_jobs(source, build, part, options)]


def find_coll(options):
    """The tests of collectives alone, in C, by the compiler of an MPI with the ABI of MPI 5."""
    compiler = shutil.which(options.mpicc)
    if compiler is None:
        return f"no {options.mpicc}: name a compiler for the ABI of MPI 5 by --mpicc"
    source, build = source_of(options), options.folder / "mpich-abi"
    words = [f"CC={compiler}", f"MPICC={compiler}", f"--with-mpi={pathlib.Path(compiler).parents[1]}",
             "--disable-fortran"]
    return configure(source, build, ["make"], words) or make(build, NEEDS) or \
        list(part_jobs(source, build, "coll", options))


def source_of(options):
    return options.mpich_tests or next(options.folder.glob("mpich-*/test/mpi"), None)


def part_jobs(source, build, part, options):
    lines = list(testlist(source, build, pathlib.Path(part)))
    if options.set == "short":
        lines = [line for line in lines if part == "coll" and SHORT.match(line[1]) and line[2] <= 4]
    folders = sorted({folder for folder, *_ in lines})
    make(build, folders)
    found = {}
    for line in lines:
        for most in options.ranks or [line[2]]:
            job = make_job(build, part, line, min(line[2], most))
            found.setdefault(job.key, job)
    return found.values()


def configure(source, build, tools, words):
    """Empty, or in words why there is nothing to build."""
    if source is None or not (source / "configure").is_file():
        return ABSENT
    if (build / "config.status").exists():
        return ""
    for tool in tools:
        if not shutil.which(tool):
            return f"no {tool}"
    build.mkdir(parents=True, exist_ok=True)
    print(f"configuring {source}", flush=True)
    with open(build / "configure.log", "wb") as log:
        done = subprocess.run([source.resolve() / "configure"] + words + PLAIN, cwd=build, stdout=log, stderr=log)
    return "" if done.returncode == 0 else f"does not configure: see {build}/configure.log"


def make(build, folders, words=()):
    """Programs that do not build are missed when they are to run."""
    for folder in folders:
        with open(build / "make.log", "ab") as log:
            done = subprocess.run(["make", "-k", f"-j{os.cpu_count()}", "-C", build / folder, *words], stdout=log,
                                  stderr=log)
        if done.returncode != 0 and str(folder) in NEEDS:
            return f"does not build: see {build}/make.log"
    return ""


def testlist(source, build, folder):
    """Folder, program, ranks and options of each line, through the folders that a line may name."""
    file = build / folder / "testlist"
    if not file.is_file() or not file.stat().st_size:
        file = source / folder / "testlist"
    if not file.is_file():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if not words or words[0].startswith("!"):
            continue
        if (build / folder / words[0]).is_dir():
            yield from testlist(source, build, folder / words[0])
            continue
        pairs = [word.partition("=")[::2] for word in words[2:]]
        if "xfail" not in dict(pairs):
            place = folder / os.path.dirname(words[0])
            yield place, os.path.basename(words[0]), int(words[1]) if len(words) > 1 else 2, pairs


def make_job(build, part, line, ranks):
    folder, program, _, pairs = line
    of = dict(pairs)
    arguments = [value for name, value in pairs if name == "arg"]
    name = " ".join([str((folder / program).relative_to(part))] + arguments)
    return Job(f"MPICH {part}", name, ranks, [f"./{program}"] + arguments, JUDGES[of.get("resultTest")],
               float(of.get("timeLimit", 180)), folder=build / folder,
               environment=dict(value.split("=", 1) for name, value in pairs if name == "env"))


def judge(output):
    if output.code != 0:
        return f"ended with {output.code}"
    lines = [line for line in output.text.splitlines() if "FORTRAN STOP" not in line]
    wrong = [line for line in lines if not GOOD.match(line)]
    if wrong:
        return f"printed: {wrong[0].strip()[:150]}"
    return "" if any("No Errors" in line or "No errors" in line for line in lines) else "no line 'No Errors'"


def judge_fatal(output):
    """The error handler must have ended the program."""
    return "ended with 0, but an error is expected" if output.code == 0 else ""


def judge_status(output):
    if "No Errors" not in output.text and "No errors" not in output.text:
        return "no line 'No Errors'"
    return judge_fatal(output)


JUDGES = {None: judge, "TestStatus": judge_fatal, "TestErrFatal": judge_fatal, "TestStatusNoErrors": judge_status}
