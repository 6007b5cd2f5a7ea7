# SPDX-License-Identifier: BSD-3-Clause
"""Applications that Debian builds for MPICH: NWChem, on a molecule of water. HPCC, mpb and most others use
Open MPI."""
import pathlib
import re
import shutil

from job import Job

ENERGY = -76.010504991  # on one rank; the same to 1e-6 on any number


def judge_nwchem(output):
    if output.code != 0:
        return f"ended with {output.code}"
    found = re.search(r"Total SCF energy = +(-\d+\.\d+)", output.text)
    if not found or "Total times" not in output.text:
        return "no energy, or no end"
    return "" if abs(float(found.group(1)) - ENERGY) < 1e-6 else f"energy {found.group(1)} instead of {ENERGY}"


def find(options):
    program = shutil.which("nwchem.mpich")
    if program is None:
        return "not installed: apt-get install --no-install-recommends nwchem-mpich (110 MB)"
    given = pathlib.Path(__file__).with_name("water.nw")
    # Without this variable two ranks converge to a wrong energy, with MPICH 4.0.2 alone too.
    return [Job("NWChem", "water", ranks, [program, given.name], judge_nwchem, 600, files=[given],
                environment={"ARMCI_USE_WIN_ALLOCATE": "0"}) for ranks in options.ranks or [2]]
