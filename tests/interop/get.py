# SPDX-License-Identifier: BSD-3-Clause
"""Brings the programs of others that package registries have into a folder; nothing is installed."""
import os
import pathlib
import re
import subprocess
import sys

from python_tests import VERSION


def run(*words, **more):
    print("+ " + " ".join(str(word) for word in words), flush=True)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, **more)


def get_mpi4py(folder):
    """The wheel, which loads any MPI, and the tests, which only the sources have."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    requirement = f"mpi4py=={VERSION}"
    if not (folder / "mpi4py").is_dir():
        run(*pip, "install", "--no-deps", "--target", folder / "mpi4py", requirement)
    if not (folder / f"mpi4py-{VERSION}").is_dir():
        run(*pip, "download", "--no-deps", "--no-binary", "mpi4py", "-d", folder, requirement)
        run("tar", "-xf", folder / f"mpi4py-{VERSION}.tar.gz", "-C", folder)


def get_mpich(folder):
    """Debian's sources of the version that is installed, by lists of packages of its own."""
    if any(folder.glob("mpich-*/test/mpi")):
        return
    state = folder / "apt"
    for part in ("lists/partial", "cache", "parts"):
        (state / part).mkdir(parents=True, exist_ok=True)
    stanzas, lines = source_entries(pathlib.Path("/etc/apt"), codename())
    (state / "parts" / "system.sources").write_text(stanzas, encoding="utf-8")
    (state / "parts" / "system.list").write_text(lines, encoding="utf-8")
    options = ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={state}/parts",
               "-o", f"Dir::State::lists={state}/lists", "-o", f"Dir::Cache={state}/cache"]
    run("apt-get", *options, "update")
    run("apt-get", *options, "source", "--download-only", "mpich", cwd=folder)
    run("tar", "-xf", next(folder.glob("mpich_*.orig.tar.*")), "-C", folder)


def codename():
    lines = pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"]


def source_entries(apt, suite):
    """The system's own entries for this release, as entries for sources: the text of a .sources and of a .list file."""
    stanzas = []
    for path in sorted(apt.glob("sources.list.d/*.sources")):
        for stanza in re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)):
            suites = re.search(r"^Suites:(.*)$", stanza, re.MULTILINE)
            if suites and suite in suites.group(1).split():
                stanza = re.sub(r"^Types:.*$", "Types: deb-src", stanza, flags=re.MULTILINE)
                stanzas.append(re.sub(r"^Suites:.*$", f"Suites: {suite}", stanza, flags=re.MULTILINE).strip() + "\n")
    lists = [apt / "sources.list", *sorted(apt.glob("sources.list.d/*.list"))]
    lines = [line for path in lists if path.exists() for line in path.read_text(encoding="utf-8").splitlines()]
    chosen = [line for line in lines if line.startswith("deb ") and suite in line.split()]
    return "\n".join(stanzas), "".join(f"deb-src{line[3:]}\n" for line in chosen)


def get(folder, names):
    os.makedirs(folder, exist_ok=True)
    for name, function in {"mpi4py": get_mpi4py, "mpich": get_mpich, "abi": get_mpich}.items():
        if name in names:
            try:
                function(folder)
            except (subprocess.CalledProcessError, OSError, StopIteration) as problem:
                print(f"{name} could not be brought: {problem}", flush=True)
