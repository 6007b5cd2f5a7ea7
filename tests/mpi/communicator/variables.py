# SPDX-License-Identifier: BSD-3-Clause
"""Each environment variable that the sources read is tested: by a case of variables.cpp, or by the file named here."""
import pathlib
import re
import sys

ELSEWHERE = {
    "TUTTI_NCCL_LIBRARY": "tests/unit/nccl/table_test.cpp",
    "TUTTI_XPMEM_LIBRARY": "tests/mpi/shm/CMakeLists.txt",
    "TUTTI_CUBLAS_LIBRARY": "tests/unit/miniapps/cublas_test.cpp",
    "TUTTI_CACHE_DIR": "tests/unit/miniapps/criteo_test.cpp",
    "TUTTI_HEARTBEAT": "tests/nodes/jobs.py",
    "TUTTI_MPI_YIELD": "tests/preload/CMakeLists.txt",
    "TUTTI_WATCHDOG": "tests/mpi/diagnosis/stuck.py",
    "TUTTI_WATCHDOG_ABORT": "tests/mpi/diagnosis/stuck.py",
    "TUTTI_DATA_DIR": "tests/unit/miniapps/data_test.cpp",
}
READS = re.compile(r'(?:getenv|read_[a-z]+)\(\s*"(TUTTI_[A-Z0-9_]+)"')


def main():
    root = pathlib.Path(sys.argv[1])
    read = {}
    for folder in ("src", "bindings", "miniapps"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            for name in READS.findall(path.read_text(encoding="utf-8")):
                read.setdefault(name, path.relative_to(root))
    cases = (root / "tests/mpi/communicator/variables.cpp").read_text(encoding="utf-8")
    tested = set(re.findall(r"TEST\(Variables, (TUTTI_[A-Z0-9_]+)\)", cases))
    wrong = []
    for name, path in sorted(read.items()):
        if name in tested:
            continue
        elsewhere = ELSEWHERE.get(name)
        if elsewhere is None:
            wrong.append(f"{name}, read in {path}, is tested nowhere: add a case to variables.cpp")
        elif name not in (root / elsewhere).read_text(encoding="utf-8"):
            wrong.append(f"{name} is not tested in {elsewhere}")
    wrong += [f"{name} is tested, but nothing reads it" for name in sorted((tested | set(ELSEWHERE)) - set(read))]
    print("\n".join(wrong) if wrong else f"{len(read)} variables are tested")
    return 1 if wrong or not read else 0


sys.exit(main())
