# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks that somebody else has built for MPICH: OSU's with validation, Intel's, NetPIPE."""
import os
import re
import shutil

from job import Job

OSU_FOLDERS = ["blocking", "non_blocking", "persistent", "neighborhood"]
OSU_ROW = re.compile(r"^\d+\s.*\s(Pass|Fail)\s*$", re.MULTILINE)
OSU_SHORT = re.compile(r"osu_i?(allreduce|bcast|alltoallv|gatherv|reduce_scatter)$")
IMB = {"IMB-MPI1": "Allreduce Reduce Reduce_scatter Reduce_scatter_block Allgather Allgatherv Gather Gatherv Scatter "
                   "Scatterv Alltoall Alltoallv Bcast Barrier Exchange Sendrecv",
       "IMB-NBC": "Iallreduce Ireduce Ireduce_scatter Iallgather Iallgatherv Igather Igatherv Iscatter Iscatterv "
                  "Ialltoall Ialltoallv Ibcast Ibarrier"}


def judge_osu(output):
    if output.code != 0:
        return f"ended with {output.code}"
    rows = OSU_ROW.findall(output.text)
    if "Fail" in rows:
        return f"{rows.count('Fail')} of {len(rows)} sizes: Fail"
    return "" if rows else "no row says Pass"


def judge_osu_time(output):
    """A barrier has no data."""
    numbers = re.search(r"^\s*\d+\.\d+", output.text, re.MULTILINE)
    return f"ended with {output.code}" if output.code else "" if numbers else "no time was printed"


def find_osu(options):
    if options.osu is None:
        return "name a folder of OSU's micro-benchmarks, built for the MPI at hand, by --osu"
    found = sorted(path for path in options.osu.rglob("osu_*") if path.parent.name in OSU_FOLDERS and
                   path.is_file() and os.access(path, os.X_OK))
    if options.set == "short":
        found = [path for path in found if OSU_SHORT.search(path.name)]
    return [osu(path, ranks) for path in found for ranks in osu_ranks(path, options)] or \
        f"no program osu_* in {options.osu}"


def osu_ranks(path, options):
    """Neighbours in a grid want three ranks a side at least."""
    given = options.ranks or ([2] if options.set == "short" else [2, 4])
    return sorted({max(ranks, 4) for ranks in given}) if path.parent.name == "neighborhood" else given


def osu(path, ranks):
    name = f"{path.parent.name}/{path.name}"
    if "barrier" in path.name:
        return Job("OSU", name, ranks, [path, "-i", "50", "-x", "5"], judge_osu_time, 300)
    sizes = ["-m", "1:65536"] if ranks <= 2 else ["-m", "4:16384"]
    return Job("OSU", name, ranks, [path, "-c", "-i", "10", "-x", "2"] + sizes, judge_osu, 300)


def judge_imb(output):
    if output.code != 0:
        return f"ended with {output.code}"
    return "" if "All processes entering MPI_Finalize" in output.text else "its own end marker is missing"


def find_imb(options):
    if options.open_mpi:
        return "it is built for Intel MPI, whose interface is MPICH's"
    if options.imb is None:
        return "name a folder with IMB-MPI1 (PyPI's impi-rt has it) by --imb"
    if options.abi is None:
        return "no libmpich.so.12 to load as libmpi.so.12"
    here = {program: names for program, names in IMB.items() if (options.imb / program).exists()}
    return [imb(options, program, benchmark, ranks) for program, names in here.items() for benchmark in names.split()
            for ranks in options.ranks or [2]] or f"no IMB-MPI1 in {options.imb}"


def imb(options, program, benchmark, ranks):
    command = [options.imb / program, "-npmin", str(ranks), "-iter", "50", "-msglog", "16", "-time", "0.3", benchmark]
    return Job("IMB", f"{program} {benchmark}", ranks, command, judge_imb, 300,
               environment={"LD_LIBRARY_PATH": options.abi})


def judge_netpipe(output):
    if output.code != 0:
        return f"ended with {output.code}"
    rows = re.findall(r"^ *\d+: +(\d+) bytes .* Integrity check (\w+)", output.text, re.MULTILINE)
    wrong = [size for size, word in rows if word != "passed"]
    if wrong:
        return f"{wrong[0]} bytes arrive damaged"
    return "" if len(rows) > 20 else "rows of most sizes are missing"


def find_netpipe(options):
    name, package = ("NPopenmpi", "netpipe-openmpi") if options.open_mpi else ("NPmpich2", "netpipe-mpich2")
    program = shutil.which(name)
    if program is None:
        return f"not installed: apt-get install --no-install-recommends {package}"
    return [Job("NetPIPE", name, 2, [program, "-i", "-n", "20", "-u", "65536", "-o", "np.out"], judge_netpipe)]
