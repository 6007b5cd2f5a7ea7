# SPDX-License-Identifier: BSD-3-Clause
"""ScaLAPACK's, the PBLAS' and the BLACS' test programs: Debian packages scalapack-mpi-test, scalapack-test-common."""
import pathlib
import re

from job import Job

FOLDERS = "/usr/lib/*/scalapack/{}-tests"
# Their inputs have grids of four, and end the program where there are fewer.
FOUR_RANKS = re.compile(r"x[sdcz](sep|gsep|heevr|syevr|svd)$|x[CF]btest$")
LEFT_OUT = re.compile(r"[sdcz]pb[123]tim$")  # they only measure
SLOW = re.compile(r"x[sd]hseqr$|x[CF]btest$")
SHORT = re.compile(r"x(dlu|zllt|dqr|clu|sls|dbrd|dgblu|dtrd)$|dpb1tst$")
FAULTS = re.compile(r"^(?!.*SUBROUTINE)(?!.*\b0 +FAILED).*\bFAILED\b.*$|[1-9]\d* tests? completed (?:and|but) failed.*",
                    re.MULTILINE)
ENDS = re.compile(r"END OF TESTS|End of Tests|Finished +\d+ tests|DONE BLACS_GRIDEXIT")


def judge(output):
    if output.code != 0:
        return f"ended with {output.code}"
    fault = FAULTS.search(output.text)
    if fault:
        return f"printed: {fault.group(0).strip()}"
    return "" if ENDS.search(output.text) else "its own end marker is missing"


def find(options):
    folder = next(pathlib.Path("/").glob(FOLDERS[1:].format("openmpi" if options.open_mpi else "mpich")), None)
    if folder is None:
        return "not installed: apt-get install --no-install-recommends scalapack-mpi-test"
    return [job for path in programs(folder) for job in jobs(path, options)]


def programs(folder):
    found = [path for part in (".", "PBLAS", "BLACS") for path in sorted((folder / part).iterdir())
             if path.is_file() and path.suffix == "" and not LEFT_OUT.search(path.name)]
    return [path for path in found if path.parent != folder or not path.name.endswith("btest")]


def jobs(path, options):
    if options.set == "short" and not SHORT.search(path.name):
        return []
    least = 4 if FOUR_RANKS.search(path.name) else 1
    ranks = sorted({max(ranks, least) for ranks in options.ranks or [2]})
    data = sorted(path.parent.glob("*.dat"))
    limit = 900 if SLOW.search(path.name) else 180
    return [Job("ScaLAPACK", path.name, count, [path], judge, limit, files=data) for count in ranks]
