# SPDX-License-Identifier: BSD-3-Clause
"""Brings the programs of others that package registries have into a folder; nothing is installed."""
import os
import pathlib
import subprocess
import sys

from python_tests import VERSION

DEBIAN = """Types: deb-src
URIs: {source}
Suites: {suite}
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


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
    (state / "parts" / "debian.sources").write_text(DEBIAN.format(suite=codename()), encoding="utf-8")
    options = ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={state}/parts",
               "-o", f"Dir::State::lists={state}/lists", "-o", f"Dir::Cache={state}/cache"]
    run("apt-get", *options, "update")
    run("apt-get", *options, "source", "--download-only", "mpich", cwd=folder)
    run("tar", "-xf", next(folder.glob("mpich_*.orig.tar.*")), "-C", folder)


def codename():
    lines = pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"]


def get(folder, names):
    os.makedirs(folder, exist_ok=True)
    for name, function in {"mpi4py": get_mpi4py, "mpich": get_mpich}.items():
        if name in names:
            try:
                function(folder)
            except (subprocess.CalledProcessError, OSError, StopIteration) as problem:
                print(f"{name} could not be brought: {problem}", flush=True)
