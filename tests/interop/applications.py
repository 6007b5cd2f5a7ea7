# SPDX-License-Identifier: BSD-3-Clause
"""Applications that Debian builds for MPICH (NWChem, BAGEL) or for Open MPI (HPCC, MUMPS, Quantum ESPRESSO), each with
a small input and the result that it must print, whatever the number of ranks."""
import gzip
import pathlib
import re
import shutil

from job import Job

INPUTS = pathlib.Path(__file__).resolve().parent / "inputs"
# A rank has a core: libraries for linear algebra would take all of them.
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "BAGEL_NUM_THREADS": "1"}


def absent(package):
    return f"not installed: apt-get install --no-install-recommends {package}"


def judge_energy(pattern, energy, end):
    """The last energy of a molecule, to 1e-6, and the program's end marker."""
    def judged(output):
        if output.code != 0:
            return f"ended with {output.code}"
        found = re.findall(pattern, output.text)
        if not found or end not in output.text:
            return "no energy, or no end"
        return "" if abs(float(found[-1]) - energy) < 1e-6 else f"energy {found[-1]} instead of {energy}"
    return judged


judge_nwchem = judge_energy(r"Total SCF energy = +(-\d+\.\d+)", -76.010504991, "Total times")
judge_bagel = judge_energy(r"(?m)^ +\d+ +(-\d+\.\d+) +\d\.\d+ +\d", -99.93242052, "SCF iteration converged")
judge_espresso = judge_energy(r"!\s+total energy += +(-\d+\.\d+)", -32.94479461, "JOB DONE")


def find_nwchem(options):
    program = shutil.which("nwchem.openmpi" if options.open_mpi else "nwchem.mpich")
    if program is None:
        return absent("nwchem-openmpi" if options.open_mpi else "nwchem-mpich") + " (110 MB)"
    # Without this variable two ranks converge to a wrong energy, with MPICH 4.0.2 alone too.
    return [Job("NWChem", "water", ranks, [program, "water.nw"], judge_nwchem, 600, files=[INPUTS / "water.nw"],
                environment={"ARMCI_USE_WIN_ALLOCATE": "0"}) for ranks in options.ranks or [2]]


def find_bagel(options):
    program = shutil.which("BAGEL")
    if options.open_mpi or program is None:
        return "it is built for MPICH" if program else absent("bagel") + " (111 MB)"
    return [Job("BAGEL", "hydrogen fluoride", ranks, [program, "hydrogen_fluoride.json"], judge_bagel, 600,
                files=[INPUTS / "hydrogen_fluoride.json"], environment=ALONE) for ranks in options.ranks or [2]]


def judge_hpcc(output):
    if output.code != 0:
        return f"ended with {output.code}"
    for marker in ("End of HPC Challenge tests", "Success=1"):
        if marker not in output.text:
            return f"no line '{marker}'"
    wrong = re.search(r"^.*(FAILED|Found [1-9]\d* errors).*$", output.text, re.MULTILINE)
    return f"printed: {wrong.group(0).strip()}" if wrong else ""


def find_hpcc(options):
    """With the sizes of the example that the package brings, on a grid of 1 x N."""
    program, example = shutil.which("hpcc"), pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    if not options.open_mpi or program is None or not example.exists():
        return absent("hpcc") if options.open_mpi else "it is built for Open MPI"
    lines = example.read_text(encoding="utf-8").splitlines()
    shown = "hpcc && if [ \"$OMPI_COMM_WORLD_RANK\" = 0 ]; then cat hpccoutf.txt; fi"
    jobs = []
    for ranks in options.ranks or [2]:
        grid = [re.sub(r"^\d+( +[PQ]s$)", rf"{ranks if line.endswith('Qs') else 1}\1", line) for line in lines]
        given = options.folder / f"hpcc-{ranks}" / "hpccinf.txt"
        given.parent.mkdir(exist_ok=True)
        given.write_text("\n".join(grid) + "\n", encoding="utf-8")
        jobs.append(Job("HPCC", "hpcc", ranks, ["sh", "-c", shown], judge_hpcc, 600, files=[given], environment=ALONE))
    return jobs


def judge_mumps(output):
    if output.code != 0:
        return f"ended with {output.code}"
    found = re.search(r"Solution is((\s+\(?[-+]?\d[-+\d.,E]*\)?)+)", output.text)
    numbers = [float(part.strip("(").split(",")[0]) for part in found.group(1).split()] if found else []
    right = len(numbers) >= 5 and all(abs(number - i) < 1e-4 for i, number in enumerate(numbers[:5], 1))
    return "" if right else "no solution, or a wrong one"


def find_mumps(options):
    folder = pathlib.Path("/usr/lib/mumps")
    if not options.open_mpi or not (folder / "dsimpletest").exists():
        return absent("mumps-test") if options.open_mpi else "it is built for Open MPI"
    kinds = {"s": "real", "d": "real", "c": "cmplx", "z": "cmplx"}
    return [Job("MUMPS", f"{kind}simpletest", ranks,
                ["sh", "-c", f"exec {folder}/{kind}simpletest <{folder}/input_simpletest_{data}"], judge_mumps,
                environment=ALONE) for kind, data in kinds.items() for ranks in options.ranks or [2]]


def find_espresso(options):
    """The atoms' data are in a package of examples."""
    program = shutil.which("pw.x")
    atoms = pathlib.Path("/usr/share/doc/quantum-espresso/examples/CPV/EXX-wf-example")
    if not options.open_mpi or program is None or not atoms.is_dir():
        return absent("quantum-espresso quantum-espresso-data") if options.open_mpi else "it is built for Open MPI"
    files = [INPUTS / "water.in"]
    for atom in "OH":
        files.append(options.folder / f"{atom}.UPF")
        files[-1].write_bytes(gzip.decompress((atoms / f"{atom}_HSCV_PBE-1.0.UPF.gz").read_bytes()))
    return [Job("Quantum ESPRESSO", "water", ranks, [program, "-in", "water.in"], judge_espresso, 600, files=files,
                environment=ALONE) for ranks in options.ranks or [2]]
