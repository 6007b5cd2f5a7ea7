# SPDX-License-Identifier: BSD-3-Clause
"""The command tutti as a user runs it: topo and explain, alone and under the launcher, with good and with wrong words."""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"


class Failed(Exception):
    pass


def expect(what, condition):
    if not condition:
        raise Failed(what)


class Runner:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder

    def run(self, *flags, ranks=0, **environment):
        command = [self.args.program, *flags]
        if ranks:
            command = shlex.split(self.args.launcher) + ["-n", str(ranks)] + command
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env=dict(os.environ, **environment))

    def text(self, *flags, ranks=0, **environment):
        done = self.run(*flags, ranks=ranks, **environment)
        expect(f"{' '.join(flags)}: status {done.returncode}\n{done.stderr}", done.returncode == 0)
        return done.stdout

    def json(self, *flags, ranks=0, **environment):
        return json.loads(self.text(*flags, ranks=ranks, **environment))

    def drawing(self, *flags):
        path = os.path.join(self.folder, "drawing.svg")
        self.text(*flags, "--svg", path)
        root = xml.etree.ElementTree.parse(path).getroot()
        expect(f"{' '.join(flags)}: the root is {root.tag}", root.tag == SVG + "svg")
        return [element.text or "" for element in root.iter(SVG + "text")]

    def refused(self, flags, *words, ranks=0, **environment):
        done = self.run(*flags, ranks=ranks, **environment)
        lines = [line for line in done.stderr.splitlines() if line.startswith("tutti: ")]
        expect(f"{flags}: status {done.returncode}\n{done.stdout}{done.stderr}", done.returncode not in (0, 77))
        expect(f"{flags}: {len(lines)} lines of error\n{done.stderr}", len(lines) == 1)
        for word in words:
            expect(f"{flags}: '{word}' is not in: {lines[0]}", word in lines[0])


def assumptions(runner):
    """Each option that assumes a fact of the machine changes the answer."""
    host = ["explain", "allreduce", "--bytes", "1MiB", "--ranks", "2", "--cores", "2"]
    for flags, option in [(host, ["--no-single-copy"]), (host, ["--native-blocking"]), (host, ["--no-shm"]),
                          (host + ["--no-progress-hook"], ["--progress-hook"]),
                          (host, ["--reproducible"]), (host, ["--nodes", "2"]), (host, ["--type", "bfloat16"]),
                          (host, ["--op", "band", "--type", "int32"]), (host, ["--kind", "persistent"]),
                          (host, ["--algorithm", "ring"])]:
        without, given = (runner.text(*words, TUTTI_CALIBRATION="off") for words in (flags, flags + option))
        expect(f"{' '.join(option)} changes nothing in the answer of {' '.join(flags)}", without != given)


def usage(runner):
    shown = runner.text("--version")
    version = r"tutti \d+\.\d+\.\d+\ncommit ([0-9a-f]{12}|unknown)\n([A-Z_]+=\S+ ?)*TUTTI_ENABLE_TOOLS=ON.*\n"
    expect(f"--version: {shown}", re.fullmatch(version, shown))
    for command in ([], ["topo"], ["explain"], ["tune"], ["regret"], ["info"], ["doctor"]):
        shown = runner.text(*command, "--help")
        expect(f"{command} --help: {shown}", "Usage: tutti" in shown)
    expect("--help names the subcommands", all(word in runner.text("--help") for word in ("topo", "explain", "tune")))
    runner.refused([], "name a command", "topo")
    runner.refused(["trace", "x"], "'x'", "summary, merge", "tutti trace --help")
    runner.refused(["trace", "summary", "/"], "/ cannot be read; name the file of TUTTI_TRACE")
    runner.refused(["flight", "--last", "-1"], "--last: '-1' is not a whole number in [0, 1048576]")
    runner.refused(["run"], "tutti run -- ./heat")
    runner.refused(["explain", "allreduce", "--byts", "8"], "--byts;", "did you mean --bytes?")
    runner.refused(["topp"], "'topp'", "topo", "explain")
    runner.refused(["topo", "--no-such-flag"], "--no-such-flag")
    shown = runner.text("--help", ranks=2)
    expect("only rank 0 prints", shown.count("Usage: tutti") == 1)
    runner.refused(["topp"], "'topp'", ranks=2)


def topo(runner):
    machine = ["topo", "--input", runner.args.machine]
    shown = runner.text(*machine)
    for row in ("GPU0    PHB", "mlx5_1  SYS", "PIX", "PXB", "NODE", "a bonded set of # NVLinks",
                "8 cores, 2 NUMA nodes, 4 GPUs, 2 NICs"):
        expect(f"'{row}' is not in\n{shown}", row in shown)
    only = runner.text(*machine, "--show", "gpus,nics")
    expect("--show leaves out the cores", "core 0" not in only and "GPU3" in only)
    expect("--cores groups", "cores 0-3" in runner.text(*machine, "--cores", "groups"))
    value = runner.json(*machine, "--json")
    names = [element["name"] for element in value["elements"]]
    row = value["matrix"][names.index("GPU0")]
    expect(f"GPU0: {row}", row[names.index("mlx5_0")] == "PIX" and row[names.index("GPU1")] == "PXB")
    words = runner.drawing(*machine)
    expect("the drawing names the elements", words.count("mlx5_0") == 2 and "PXB" in words)
    here = runner.json("topo", "--json")
    kinds = [element["kind"] for element in here["elements"]]
    expect(f"this machine: {kinds}", kinds.count("rank") == 1 and "core" in kinds)
    runner.refused(["topo", "--input", "/nowhere.xml"], "/nowhere.xml")
    runner.refused(["topo", "--input", __file__], "hwloc cannot read", "name a file that lstopo FILE.xml wrote")
    runner.refused(["topo", "--show", "gpu"], "gpus")
    runner.refused(machine + ["--svg", "/nowhere/drawing.svg"], "/nowhere/drawing.svg")


def explain(runner):
    shown = runner.text("explain", "allreduce", "--bytes", "1MiB", "--ranks", "8", "--algorithm", "ring", "--rank", "3")
    for part in ("allreduce of 1 MiB (262144 float32, sum)", "on 8 ranks of 1 node", "Chosen: mpi:ring",
                 "Schedule of rank 3", "round 13", "from 2"):
        expect(f"'{part}' is not in\n{shown}", part in shown)
    expect("round 14 is none of 8 ranks' rounds", "round 14" not in shown)
    for nodes in (1, 2):
        for size in ("0", "8", "64KiB", "64MiB"):
            value = runner.json("explain", "allreduce", "--bytes", size, "--ranks", "8", "--nodes", str(nodes), "--json")
            names = [one["name"] for one in value["candidates"]]
            expect(f"{size} on {nodes}: {value['chosen']} of {names}", value["chosen"] == names[0])
            expect("shm only on one node", nodes == 1 or not value["chosen"].startswith("shm"))
    value = runner.json("explain", "bcast", "--bytes", "64", "--ranks", "1000", "--nodes", "10", "--no-shm", "--json",
                        "--type", "uint8", "--root", "7", "--kind", "persistent")
    expect(f"a job that is not here: {value['machine']}", value["machine"]["ranks_per_node"] == [100] * 10)
    forced = runner.text("explain", "allreduce", "--ranks", "4", TUTTI_ALGORITHM="allreduce:rabenseifner")
    expect("TUTTI_ALGORITHM is heard", "mpi:rabenseifner (named by TUTTI_ALGORITHM)" in forced)
    exact = runner.json("explain", "allreduce", "--ranks", "4", "--reproducible", "--json", "--no-shm")
    expect("reproducible", any("one rounding" in one.get("excluded", "") for one in exact["candidates"]))
    runner.refused(["explain"], "name an operation")
    runner.refused(["explain", "allreduce", "--all-ranks"], "--json")
    runner.refused(["explain", "alreduce"], "did you mean 'allreduce'?", "reduce_scatter_block", "alltoallv")
    runner.refused(["explain", "allreduce", "--type", "float"], "float32", "bfloat16")
    runner.refused(["explain", "allreduce", "--op", "plus"], "sum")
    runner.refused(["explain", "allreduce", "--kind", "async"], "nonblocking")
    runner.refused(["explain", "allreduce", "--bytes", "many"], "'many'")
    runner.refused(["explain", "allreduce", "--bytes", "6"], "multiple")
    runner.refused(["explain", "bcast", "--ranks", "4", "--root", "4"], "--root 4")
    runner.refused(["explain", "allreduce", "--ranks", "2", "--nodes", "3"], "--nodes 3")
    for ranks in ("-2", "0", "1048577", "nan", "x"):
        runner.refused(["explain", "allreduce", "--ranks", ranks], "--ranks", f"'{ranks}'", "[1, 1048576]")
    begin = time.monotonic()
    shown = runner.text("explain", "allreduce", "--ranks", "100000", "--algorithm", "ring", "--bytes", "1MiB")
    expect(f"many ranks: {time.monotonic() - begin} s", time.monotonic() - begin < 10)
    expect("the first rounds and the number of the others", "round 0" in shown and " more lines" in shown)
    runner.refused(["explain", "allreduce", "--algorithm", "rign"], "rign", "ring")
    runner.refused(["explain", "allreduce", "--table", "/nowhere.json"], "/nowhere.json")
    runner.refused(["explain", "allreduce", "--table", __file__], "command.py")


def check_measured(value, ranks, has_rounds):
    """Rounds of the plan, one after the other, inside the call of their rank."""
    name, measured = f"{value['call']['text']}: {value['chosen']}", value["measured"]
    expect(f"{name}: {len(measured['ranks'])} ranks", len(measured["ranks"]) == ranks)
    expect(f"{name}: {measured['repeats']} calls", measured["repeats"] == 5)
    for number, rank in enumerate(measured["ranks"]):
        parts = rank["rounds"]
        expect(f"{name}: rank {number} begins and ends: {rank}", 0 <= rank["begin"] < rank["end"])
        expect(f"{name}: rounds of rank {number}: {parts}", bool(parts) == has_rounds)
        expect(f"{name}: each takes time: {parts}",
               all(one["seconds"] > 0 and one["predicted_seconds"] >= 0 for one in parts))
        expect(f"{name}: a prediction: {parts}", not parts or sum(one["predicted_seconds"] for one in parts) > 0)
        expect(f"{name}: one after the other: {parts}",
               all(abs(one["begin"] + one["seconds"] - after["begin"]) < 1e-12 for one, after in zip(parts, parts[1:])))
        inside = sum(one["seconds"] for one in parts)
        expect(f"{name}: {inside} in {rank}", inside <= rank["end"] - rank["begin"] + 1e-12)
        expect(f"{name}: after the begin: {rank}", all(one["begin"] >= rank["begin"] for one in parts))
    if has_rounds:
        expect(f"{name}: the rounds of the schedule",
               len(measured["ranks"][value["rank"]]["rounds"]) == len(value["schedule"]["rounds"]))
    expect(f"{name}: the call lasts", 0 < measured["seconds"] < 10)


def measure(runner):
    """The rounds of calls of each kind, on one node and on two."""
    call = ["--measure", "--repeats", "5", "--json"]
    for ranks, words, has_rounds in (
            (2, ["allreduce", "--bytes", "1KiB", "--algorithm", "shm:slots"], False),
            (3, ["bcast", "--algorithm", "binomial", "--root", "2", "--kind", "nonblocking", "--rank", "1"], True),
            (3, ["reduce", "--algorithm", "direct", "--op", "max", "--type", "int32", "--kind", "persistent"], True),
            (4, ["alltoallv", "--bytes", "4KiB", "--algorithm", "pairwise"], True)):
        check_measured(runner.json("explain", *words, *call, ranks=ranks), ranks, has_rounds)
    # MPICH can split one machine into two nodes; other libraries show one.
    value = runner.json("explain", "allreduce", "--bytes", "4KiB", "--algorithm", "hierarchical", *call, ranks=4,
                        MPIR_CVAR_NUM_CLIQUES="2")
    check_measured(value, 4, True)
    if value["machine"]["shm_on_nodes"]:
        expect(f"an exchange on the node: {value['schedule']}", "exchange" in value["schedule"]["rounds"][0])
    path = os.path.join(runner.folder, "rounds.svg")
    shown = runner.text("explain", "allreduce", "--algorithm", "ring", "--measure", "--svg", path, ranks=2)
    expect(f"a row for each round:\n{shown}", len(re.findall(r"^[01] +[01] +[\d.]+ [um]?s +", shown, re.M)) == 4)
    expect(f"repeats:\n{shown}", "median of 25 calls; one machine, one clock" in shown)
    words = [one.text for one in xml.etree.ElementTree.parse(path).getroot().iter(SVG + "text")]
    expect(f"{words}", "rank 1" in words and "measured rounds" in words)
    runner.refused(["explain", "allreduce", "--measure", "--op", "user"], "pass another --op", ranks=2)
    runner.refused(["explain", "allreduce", "--measure"], "mpiexec")
    runner.refused(["explain", "allreduce", "--repeats", "3"], "--measure")
    runner.refused(["explain", "--backends", "--measure"], "mpiexec")
    runner.refused(["explain", "allreduce", "--measure", "--memory", "device"], "host memory")
    runner.refused(["explain", "allreduce", "--measure", "--ranks", "4"], "omit --ranks")


def drawings(runner):
    words = runner.drawing("explain", "allreduce", "--bytes", "1MiB", "--ranks", "8", "--algorithm", "ring")
    expect(f"{words}", "rank 7" in words and "round 13" in words and words.count("8 × 128 KiB") == 14)
    words = runner.drawing("explain", "allreduce", "--ranks", "8", "--nodes", "2", "--algorithm", "hierarchical")
    expect(f"{words}", words.count("node 1") == 4 and "between nodes" in words)
    for ranks in ("2", "16"):
        words = runner.drawing("explain", "alltoallv", "--ranks", ranks, "--algorithm", "pairwise")
        expect(f"{words}", f"rank {int(ranks) - 1}" in words)
    for protocol in ("line", "slots", "single_copy", "parts", "tree"):
        words = runner.drawing("explain", "allreduce", "--ranks", "4", "--algorithm", "shm:" + protocol)
        first = "1  level 1: each rank stores" if protocol == "tree" else "1  publish"
        expect(f"{protocol}: {words}", any(word.startswith(first) for word in words))
    words = runner.drawing("explain", "bcast", "--ranks", "4", "--bytes", "1MiB", "--algorithm", "shm:stream")
    expect(f"{words}", any("near ring" in word for word in words))
    runner.refused(["explain", "allreduce", "--ranks", "200", "--algorithm", "ring", "--svg", "ring.svg"], "at most 64")
    runner.refused(["explain", "allreduce", "--algorithm", "native", "--svg", "native.svg"], "native makes the call")
    path = os.path.join(runner.folder, "none.svg")
    ring = ["explain", "allreduce", "--ranks", "4", "--algorithm", "ring"]
    runner.refused(ring + ["--svg", path], "needs python3", "--all-ranks", "share/tutti/draw.py", PATH=runner.folder)
    stub = os.path.join(runner.folder, "python3")
    with open(stub, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho tutti: it fails >&2\nexit 3\n")
    os.chmod(stub, 0o755)
    runner.refused(ring + ["--svg", path], "it fails", PATH=runner.folder)
    expect("no file of a drawing that failed", not os.path.exists(path))
    by_hand = os.path.join(os.path.dirname(runner.args.program), os.pardir, "share", "tutti", "draw.py")
    done = subprocess.run([sys.executable, by_hand], input=runner.text(*ring, "--json", "--all-ranks"), capture_output=True,
                          text=True, encoding="utf-8", timeout=60)
    expect(f"by hand: {done.stderr}", done.returncode == 0 and ">rank 3</text>" in done.stdout)


def info(runner):
    shown = runner.text("info", TUTTI_TIMOUT="3", TUTTI_DATA_DIR="/nowhere/at/all", TUTTI_TRIALS="0")
    for part in ("tutti 0.", "MPI: ", "Kokkos: ", "compiler", "TUTTI_ENABLE_CUDA=", "shared memory", "single copy", "NCCL",
                 "progress in MPI",
                 "calibration", "measured table", "TUTTI_TIMOUT is no variable of this library; did you mean TUTTI_TIMEOUT?",
                 "TUTTI_DATA_DIR=/nowhere/at/all is no folder"):
        expect(f"'{part}' is not in\n{shown}", part in shown)
    expect("the value in force", re.search(r"TUTTI_TRIALS +0 ", shown))
    plain = runner.text("info", ranks=2)
    expect(f"nothing is doubtful, one rank prints\n{plain}", "Doubtful" not in plain and plain.count("compiler") == 1)
    files = re.findall(r"^  (?:library|installed table) +(.*)", plain, re.M)
    name = os.path.basename(files[0])
    expect(f"files\n{plain}", name.startswith("libtutti.") and os.path.isfile(files[0]) and os.path.isabs(files[1]))
    folder, name = os.path.split(os.path.abspath(runner.args.program))
    done = subprocess.run([name, "info"], capture_output=True, text=True, timeout=60, cwd=runner.folder,
                          env=dict(os.environ, PATH=folder))
    expect(f"found in PATH: the same files\n{done.stdout}", all(file in done.stdout for file in files))
    done = runner.run("topo", ranks=2, TUTTI_TIMOUT="3", TUTTI_LOG="1")
    expect(f"TUTTI_LOG=1 names it\n{done.stderr}", "did you mean TUTTI_TIMEOUT?" in done.stderr)
    expect("nobody is told unasked", "TUTTI_TIMEOUT" not in runner.run("topo", ranks=2, TUTTI_TIMOUT="3").stderr)


def launcher(runner):
    """The program alone, with the variables of a launcher of another MPI."""
    other = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
    done = runner.run("topo", **other)
    expect(f"a warning\n{done.stderr}", "tutti: warning: the launcher of Open MPI started 2 processes" in done.stderr)
    done = runner.run("topo", **dict(other, OMPI_COMM_WORLD_RANK="1"))
    expect(f"one speaks\n{done.stderr}", "warning" not in done.stderr)
    expect("none under the right one", "warning" not in runner.run("topo", ranks=2).stderr)


def summary(runner):
    """TUTTI_LOG=summary: calls, bytes, seconds and way of each operation and size."""
    few = ["regret", "--operations", "bcast,allreduce", "--calls", "blocking,persistent", "--types", "float32", "--sizes",
           "64,4K", "--rounds", "3"]
    done = runner.run(*few, ranks=2, TUTTI_LOG="summary")
    expect(f"status {done.returncode}\n{done.stderr}", done.returncode == 0)
    lines = [line.split() for line in done.stderr.splitlines()]
    rows = [line for line in lines if len(line) == 9 and line[0] in ("allreduce", "bcast", "barrier")]
    expect(f"once, by rank 0\n{done.stderr}", done.stderr.count("calls of rank 0") == 1)
    for operation, call, size in (("allreduce", "blocking", "64"), ("bcast", "blocking", "4"), ("bcast", "persistent", "4"),
                                  ("barrier", "blocking", "0")):
        found = [row for row in rows if row[:2] == [operation, call] and row[2] == size]
        expect(f"{operation} {call} {size}\n{done.stderr}", found and all(int(row[5]) > 0 for row in found))
        for row in found if operation != "allreduce" else []:  # the command itself reduces some numbers
            each = int(row[6]) / int(row[5])
            expect(f"bytes of each call: {row}", each == {"64": 64, "4": 4096, "0": 0}[size])
    expect("nothing unasked", "calls of rank 0" not in runner.run(*few, ranks=2).stderr)


def backends(runner):
    shown = runner.text("explain", "--backends")
    for word in ("backend", "shm", "mpi", "native", "nccl", "host", "device", "composed", "not built", "alltoallv"):
        expect(f"'{word}' is not in\n{shown}", word in shown)
    value = runner.json("explain", "--backends", "--json")
    expect("the host MPI's own has limits", "limits" in value["operations"]["allreduce"]["native"]["host"])
    off = runner.json("explain", "--backends", "--json", TUTTI_SHM="0")
    expect("no shared memory", off["operations"]["allreduce"]["shm"]["host"]["support"] == "absent")
    runner.refused(["explain", "allreduce", "--backends"], "--backends")
    runner.refused(["explain", "--backends", "--svg", "x.svg"], "no drawing")


def jobs(runner):
    value = runner.json("topo", "--json", ranks=2)
    names = [element["name"] for element in value["elements"]]
    expect(f"two ranks: {names}", names[:2] == ["rank 0", "rank 1"] and len(value["hosts"]) == 1)
    value = runner.json("explain", "allreduce", "--json", ranks=2)
    expect(f"the job is explained: {value['machine']}", value["machine"]["ranks"] == 2)
    value = runner.json("explain", "allreduce", "--ranks", "6", "--json", ranks=2)
    expect(f"another is imagined: {value['machine']}", value["machine"]["ranks"] == 6)
    runner.refused(["explain", "alreduce"], "allreduce", ranks=2)
    table = os.path.join(runner.folder, "table.json")
    runner.text("tune", "--accept-disturbed", "--operations", "allreduce", "--calls", "blocking", "--types", "float32", "--largest", "4K",
                "--rounds", "3", "--output", table, ranks=2)
    value = runner.json("explain", "allreduce", "--bytes", "1KiB", "--ranks", "2", "--table", table, "--json")
    chosen = value["candidates"][0]
    expect(f"measured times are used: {value}", chosen["measured"] and chosen["name"] == value["chosen"])
    shown = runner.text("explain", "allreduce", "--bytes", "1KiB", ranks=2, TUTTI_TUNING=table)
    expect(f"a job finds its table:\n{shown}", "(measured " in shown and table in shown)
    runner.refused(["explain", "allreduce", "--ranks", "3", "--table", table], "for 3 ranks, only for 2")
    # MPICH can split one machine into two nodes; other libraries show one.
    split = runner.json("topo", "--json", ranks=2, MPIR_CVAR_NUM_CLIQUES="2")
    if len(split["hosts"]) == 2:
        expect(f"across: {split['matrix'][0][1]}", split["matrix"][0][1] == "NET")
        shown = runner.text("explain", "allreduce", ranks=2, MPIR_CVAR_NUM_CLIQUES="2")
        expect(f"two nodes:\n{shown}", "on 2 ranks of 2 nodes" in shown and "do not share memory" in shown)


    # Slurm's variables, as if both nodes were on one leaf, and such that do not fit.
    split = {"MPIR_CVAR_NUM_CLIQUES": "2", "SLURM_TOPOLOGY_ADDR": "top.leaf.n1"}
    fits = dict(split, SLURM_TOPOLOGY_ADDR_PATTERN="switch.switch.node")
    shown = runner.text("topo", ranks=2, **fits)
    expect(f"groups:\n{shown}", "groups of nodes by SLURM_TOPOLOGY_ADDR" in shown and "top / leaf" in shown)
    value = runner.json("topo", "--json", ranks=2, **fits)["network"]
    expect(f"groups: {value}", value["nodes"] == [["top", "leaf"]] * len(value["nodes"]) and not value["problems"])
    wrong = dict(split, SLURM_TOPOLOGY_ADDR_PATTERN="node.switch")
    shown = runner.text("topo", ranks=2, **wrong)
    expect(f"left out:\n{shown}", "no groups of nodes are known" in shown and "does not fit the pattern" in shown)
    shown = runner.text("doctor", "--no-test", ranks=2, TUTTI_CALIBRATION="off", **wrong)
    expect(f"a finding:\n{shown}", "left out: SLURM_TOPOLOGY_ADDR of" in shown)
    value = runner.json("explain", "allreduce", "--json", ranks=2, **fits)["machine"]["network"]
    expect(f"explain: {value}", value == "groups of nodes by SLURM_TOPOLOGY_ADDR: 1 of up to 2, 1 of up to 2" or
           "of up to 1" in value)
    shown = runner.text("explain", "allreduce", "--ranks", "8", "--nodes", "8", "--groups", "4,2")
    expect(f"assumed groups:\n{shown}", "groups of nodes by --groups: 2 of up to 4, 4 of up to 2" in shown)
    runner.refused(["explain", "allreduce", "--groups", "4,3"], "--groups 4,3: '3'")


def regret(runner):
    few = ["regret", "--operations", "bcast,allreduce,alltoallv", "--calls", "blocking", "--types", "float32", "--sizes",
           "64,4K", "--rounds", "3"]
    # A table of the user plays no role, not even one that cannot be read. Two jobs decide alike by costs that neither
    # of them measures.
    value = runner.json(*few, "--json", ranks=2, TUTTI_TUNING="/nowhere/table.json", TUTTI_CALIBRATION="off")
    cells = value["cells"]
    expect(f"3 operations at 2 sizes: {cells}", len(cells) == value["summary"]["cells"] == 6 and value["left"] == 0)
    ratios = [cell["ratio"] for cell in cells]
    expect(f"the worst is first: {ratios}", ratios == sorted(ratios, reverse=True))
    for cell in cells:
        expect(f"chosen and best are timed: {cell}", {cell["chosen"], cell["best"]} <= set(cell["seconds"]))
        expect(f"the choice is no better than the best: {cell}", cell["chosen"] != cell["best"] or cell["ratio"] == 1)
        expect(f"the interval is one: {cell}", 0 < cell["interval"][0] <= cell["interval"][1])
        told = runner.json("explain", cell["operation"], "--bytes", str(cell["bytes"]), "--json", ranks=2,
                           TUTTI_CALIBRATION="off")["chosen"]
        expect(f"as explain says, {told}: {cell}", cell["chosen"] == told)
    shown = runner.text(*few, "--worst", "1", "--in-a-row", ranks=2)
    expect(f"one cell:\n{shown}", shown.count(" blocking ") == 2 and "of 6 cells" in shown)
    shown = runner.text(*few, "--budget", "1e-9", ranks=2)
    expect(f"no time:\n{shown}", "no cell was measured" in shown and "6 cells left" in shown)
    runner.refused(few, "one rank has nothing to compare", ranks=1)
    runner.refused(["regret", "--operations", "alreduce"], "'alreduce'; valid: allreduce", ranks=2)
    runner.refused(["regret", "--sizes", "many"], "--sizes", ranks=2)


def links(runner):
    path = os.path.join(runner.folder, "links.json")
    shown = runner.text("tune", "--links", "--output", path, ranks=2)
    expect(f"a table of one level:\n{shown}", "latency us" in shown and "by pairs at once: 1:" in shown)
    table = json.load(open(path))["tables"][0]
    expect(f"links and no cells: {table}", len(table["links"]) == 1 and table["cells"] == [])
    figures = next(iter(table["links"].values()))
    expect(f"figures of a machine: {figures}", 1e-8 < figures["latency"] < 1e-2 and 0 <= figures["overhead"] < 1e-2 and
           0 <= figures["long_latency"] < 1e-2 and 512 <= figures["eager"] <= 1 << 18 and
           1e6 < figures["rate"] <= figures["several_rate"] < 1e13 and figures["rate"] <= figures["shared_rate"] < 1e13 and
           figures["rate"] <= figures["one_way_rate"] < 1e13 and figures["passing_rate"] == 0)
    # They stay where cells are measured later, and programs with such a table predict by them.
    runner.text("tune", "--operations", "barrier", "--calls", "blocking", "--budget", "5", "--rounds", "3", "--output",
                path, "--accept-disturbed", ranks=2)
    kept = json.load(open(path))["tables"][0]
    expect(f"links and a cell: {kept}", kept["links"] == table["links"] and len(kept["cells"]) == 1)
    told = [runner.json("explain", "allreduce", "--bytes", "4KiB", "--json", ranks=2, TUTTI_CALIBRATION="off", **where)
            for where in ({}, {"TUTTI_TUNING": path})]
    seconds = [{one["name"]: one.get("seconds") for one in value["candidates"]} for value in told]
    expect(f"measured links: {[one['machine']['links'] for one in told]}",
           told[0]["machine"]["links"].startswith("of the costs") and told[1]["machine"]["links"].startswith("measured"))
    expect(f"messages take another time, shared memory does not: {seconds}",
           seconds[0]["mpi:ring"] != seconds[1]["mpi:ring"] and seconds[0]["shm:line"] == seconds[1]["shm:line"])
    runner.refused(["tune", "--links"], "tune", ranks=1)


def doctor_of(runner, *flags, ranks=0, status=0, limit="", **environment):
    """What tutti doctor --json says. Costs are not measured: other tests run meanwhile."""
    words = [runner.args.program, "doctor", "--json", *flags]
    if ranks:
        words = shlex.split(runner.args.launcher) + ["-n", str(ranks)] + words
    done = subprocess.run(["bash", "-c", limit + 'exec "$@"', "doctor", *words], capture_output=True, text=True,
                          timeout=100, env=dict(os.environ, TUTTI_CALIBRATION="off", **environment))
    expect(f"doctor {flags}: status {done.returncode}\n{done.stdout}{done.stderr}", done.returncode == status)
    return json.loads(done.stdout)


def names_in(value, severity=None):
    return [one["name"] for one in value["findings"] if severity in (None, one["severity"])]


def doctor(runner):
    """All findings have a remedy; every path is tested; the exit status tells errors."""
    for ranks in (1, 2):
        value = doctor_of(runner, "--budget", "3", ranks=ranks)
        expect(f"one object for each rank: {value['ranks']}", value["ranks"] == ranks == len(value["facts"]))
        expect(f"no error: {value['findings']}", value["errors"] == 0 and not names_in(value, "error"))
        for one in value["findings"]:
            expect(f"a severity, a text and a remedy: {one}", one["severity"] in ("slow", "note") and one["text"] and one["remedy"])
        expect(f"calibration is off: {names_in(value)}", "calibration" in names_in(value))
        expect(f"one rank is said: {names_in(value)}", ("one-rank" in names_in(value)) == (ranks == 1))
        tests = value["tests"]
        expect(f"all calls: {tests}", {one["call"] for one in tests} ==
               {"allreduce", "bcast", "alltoall", "allgather", "sendrecv"})
        expect(f"all sizes: {tests}", {one["bytes"] for one in tests} == {8, 4096, 1 << 20})
        expect(f"right and timed: {tests}", all(one["result"] in ("ok", "disturbed") for one in tests))
        expect(f"timed: {tests}", value["not_timed"] > 0 or all(one["seconds"] > 0 for one in tests))
    ways = {one["way"] for one in tests}
    expect(f"messages and the MPI's own: {ways}", "native" in ways and any(way.startswith("mpi:") for way in ways))
    if value["shared_memory"]:
        expect(f"shared memory: {ways}", {"shm:line", "shm:slots"} <= ways)
        expect(f"models expect times: {tests}", any(one.get("usual_seconds", 0) > 0 for one in tests))
    value = doctor_of(runner, "--budget", "0", ranks=4)
    expect("no time to time", value["not_timed"] == len(value["tests"]) > 0 and "seconds" not in value["tests"][0])
    expect(f"right: {value['tests']}", all(one["result"] == "ok" for one in value["tests"]))
    shown = runner.run("doctor", "--no-test", ranks=2).stdout
    expect(f"a text for people, once\n{shown}", shown.count(" errors, ") == 1 and "  ->" in shown and "shm:" not in shown)


def doctor_findings(runner):
    """Each trouble that a user can make is found, by name, on every number of ranks."""
    value = doctor_of(runner, ranks=2, TUTTI_SHM="0")
    expect(f"TUTTI_SHM=0: {value['findings']}", "shm-off" in names_in(value, "slow"))
    expect("no path by shared memory", value["tests"] and not any(one["way"].startswith("shm") for one in value["tests"]))
    value = doctor_of(runner, "--no-test", ranks=4, limit="ulimit -f 5000; ")
    expect(f"a file size limit: {value['findings']}", "file-limit" in names_in(value, "slow"))
    done = subprocess.run(["bash", "-c", 'ulimit -f 100; exec "$@"', "doctor", runner.args.program, "doctor", "--no-test"],
                          capture_output=True, text=True, timeout=60)
    expect(f"a limit at which MPI may not start\n{done.stderr}", "tutti: doctor: the file size limit is low" in done.stderr)
    for ranks in (1, 4):
        value = doctor_of(runner, "--no-test", ranks=ranks, TUTTI_TIMOUT="3", TUTTI_SINGLE_COPY="0")
        expect(f"a variable that nobody reads: {value['findings']}", "variables" in names_in(value, "note"))
        expect("its name", "did you mean TUTTI_TIMEOUT?" in json.dumps(value["findings"]))
        expect(f"no single copies: {value['findings']}", "copies-off" in names_in(value, "slow"))
    other = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
    value = doctor_of(runner, "--no-test", status=1, **other)
    expect(f"another MPI's launcher: {value['findings']}", names_in(value, "error") == ["launcher"])
    done = runner.run("doctor", "--no-test", **dict(other, OMPI_COMM_WORLD_RANK="1"))
    expect(f"one process speaks\n{done.stdout}", done.returncode == 0 and not done.stdout)
    # No communicator of Tutti can be made: the facts come by plain MPI.
    value = doctor_of(runner, ranks=2, status=1, TUTTI_TUNING="/nowhere/table.json")
    expect(f"no communicator: {value['findings']}", {"communicator", "table"} <= set(names_in(value, "error")))
    expect("its reason, and no test", "/nowhere/table.json" in json.dumps(value["findings"]) and not value["tests"])
    done = runner.run("doctor", TUTTI_SHM="maybe")
    expect(f"a value that cannot be read\n{done.stderr}", done.returncode == 1 and "TUTTI_SHM=maybe" in done.stderr)


def doctor_room(runner):
    """A /dev/shm without room: a finding where MPI starts, words before it where MPI does not."""
    within = ["unshare", "--mount", "--propagation", "private"]
    if shutil.which("unshare") is None or subprocess.run(within + ["true"], capture_output=True).returncode != 0:
        print("SKIPPED: no mount namespaces without privileges")
        sys.exit(77)
    launcher = shlex.split(runner.args.launcher) + ["-n", "2", runner.args.program, "doctor", "--json", "--budget", "0"]
    for options in ("size=10m", "size=4m", "ro,size=100m"):
        done = subprocess.run([*within, "bash", "-c", f'mount -t tmpfs -o {options} tmpfs /dev/shm && exec "$@"', "doctor",
                               *launcher], capture_output=True, text=True, timeout=100)
        warned = "tutti: doctor: /dev/shm is " in done.stderr
        expect(f"{options}: words before MPI starts\n{done.stderr}", warned or options == "size=10m")
        if done.returncode not in (0, 1) or not done.stdout:
            expect(f"{options}: MPI did not start, and nobody said why\n{done.stderr}", warned)
            continue
        value = json.loads(done.stdout)
        found = {"shm-full", "shm-read-only"} & set(names_in(value, "slow"))
        expect(f"{options}: {value['findings']}", found or value["shared_memory"])
        expect(f"{options}: the paths that are left are right", value["tests"] and value["errors"] == 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--machine", required=True)
    parser.add_argument("case", choices=["usage", "assumptions", "topo", "explain", "measure", "drawings", "backends", "jobs", "regret", "links",
                                         "info", "launcher", "summary", "doctor", "doctor_findings",
                                         "doctor_room"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            globals()[args.case](Runner(args, folder))
        except Failed as failure:
            print(failure, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
