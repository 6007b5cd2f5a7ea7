# SPDX-License-Identifier: BSD-3-Clause
"""Times of collectives that PICO has measured (https://github.com/HLC-Lab/pico), as cells of one call on one layout.

An algorithm of the file is one of Tutti's where both send the same messages in the same order. The least of several
programs of one algorithm counts. So does Open MPI's own choice where its time tells which algorithm it is. Others have
no counterpart: the other MPIs' own choices, and these:

* trees of two children (binary, split_binary, in_order), windows of a few messages (linear_sync), copies of all vectors
  (allgather_reduce), segments (ring_segmented);
* of Bine's: trees, segments, and those that permute a vector in place of messages;
* those that go over several ports of Fugaku's network at once, and Bine's there, whose partners follow the torus;
* on Fugaku, basic-linear of a bcast, which takes as long as trinaryx6 at all lengths, so that it is that one; chain,
  which does not cut its vector there; and gtbc and nonoverlapping, whose bcast is the MPI's own choice.
"""
import csv
import dataclasses
import math

COLUMNS = ("machine", "session", "nodes", "ranks_per_node", "operation", "bytes", "algorithm", "median_ns", "notes")
BLOCKS = ("reduce_scatter_block", "allgather", "alltoall", "gather", "scatter")
LEAST = 1e-6  # no message between two nodes takes less: such a call was not made

# By operation: the name in the file, without its program, and Tutti's.
COUNTERPARTS = {
    "allreduce": {"recursive_doubling": "recursive_doubling", "rabenseifner": "rabenseifner", "ring": "ring",
                  "bine_lat": "bine_doubling", "bine_bdw_remap": "bine_halving"},
    "allgather": {"recursive_doubling": "recursive_doubling", "ring": "ring", "neighbor": "neighbor_exchange",
                  "bruck": "bruck", "brucks": "bruck", "k_bruck": "bruck", "sparbit": "sparbit",
                  "bine_2_blocks": "bine_doubling", "bine_send_remap": "bine_butterfly",
                  "bine_block_by_block": "bine_blocks"},
    "reduce_scatter_block": {"recursive_halving": "recursive_halving", "recursive_distance_doubling": "butterfly",
                             "ring": "ring", "bine_send_remap": "bine_butterfly",
                             "bine_block_by_block": "bine_blocks"},
    "bcast": {"binomial": "binomial", "knomial": "knomial", "scatter_allgather": "scatter_doubling",
              "scatter_allgather_ring": "scatter_allgather"},
    "reduce": {"binomial": "binomial", "rabenseifner": "rabenseifner", "linear": "direct",
               "bine_bdw": "bine_halving"},
    "alltoall": {"linear": "direct", "pairwise": "pairwise", "bruck": "bruck", "modified_bruck": "bruck"},
    "gather": {"binomial": "binomial", "linear": "linear"},
    "scatter": {"binomial": "binomial", "linear": "linear", "linear_nb": "linear"},
}
PROGRAMS = ("over", "ompi", "mpich")
OWN = ("default_ompi", "default_mpich", "default-default")  # the choice of the machine's MPI
# Names that are not as above, most of them of Fugaku.
OTHER_NAMES = {
    ("allgather", "bine_block_by_block_over_any_even"): "bine_blocks",
    ("allreduce", "bine_block_by_block_any_even"): "bine_blocks",
    ("reduce_scatter_block", "bine_block_by_block_any_even"): "bine_blocks",
    ("allreduce", "RECDOUB-L-UTOFU-0-1"): "recursive_doubling",
    ("allreduce", "RECDOUB-B_CONT-UTOFU-0-1"): "rabenseifner",
    ("alltoall", "BRUCK-LOG-MPI-0-1"): "bruck",
    ("gather", "default-basic-linear"): "linear",
    ("scatter", "default-basic-linear"): "linear",
}

# Where the time of Open MPI's own choice is that of none of its other algorithms, it is the one that was not measured by
# name. By operation: this one, the least bytes for which it has no further ones, and the others that must have been
# measured.
LEFT = {"allgather": ("bruck", 0, ("ring_ompi", "neighbor_ompi")),
        "allreduce": ("rabenseifner", 16384, ("ring_ompi", "recursive_doubling_ompi")),
        "reduce_scatter_block": ("butterfly", 0, ("ring_ompi", "recursive_halving_ompi"))}
ALIKE = 1.1


def counterpart(operation, algorithm):
    """Tutti's name of an algorithm, or None."""
    if (operation, algorithm) in OTHER_NAMES:
        return OTHER_NAMES[operation, algorithm]
    if algorithm.startswith("default-"):
        name = algorithm.removeprefix("default-").replace("-", "_")
    else:
        name, _, program = algorithm.rpartition("_")
        if program not in PROGRAMS:
            return None
    return COUNTERPARTS[operation].get(name)


@dataclasses.dataclass(frozen=True, order=True)
class Call:
    machine: str
    nodes: int
    per_node: int
    ranks: int
    operation: str
    bytes: int

    @property
    def layout(self):
        return self.machine, self.nodes, self.per_node, self.ranks

    def asked(self):
        """The bytes that the planner is asked for: whole elements a block, as those that were sent."""
        least = 4 * (self.ranks if self.operation in BLOCKS else 1)
        return max(1, self.bytes // least) * least


@dataclasses.dataclass
class Cell:
    """One call of one session, in seconds: by Tutti's names, and by all of the file."""
    call: Call
    session: str
    known: dict = dataclasses.field(default_factory=dict)
    measured: dict = dataclasses.field(default_factory=dict)

    def add(self, algorithm, seconds):
        for times, name in ((self.measured, algorithm), (self.known, counterpart(self.call.operation, algorithm))):
            if name is not None:
                times[name] = min(seconds, times.get(name, math.inf))

    def name_own(self):
        """Makes Open MPI's own choice known where it is the algorithm that is left."""
        own = self.measured.get("default_ompi")
        if own is None or self.call.operation not in LEFT:
            return
        name, least, others = LEFT[self.call.operation]
        if self.call.operation == "allgather" and self.call.ranks & (self.call.ranks - 1) == 0:
            others = (*others, "recursive_doubling_ompi")  # on other numbers of ranks that is Bruck's
        if self.call.bytes < least or not set(others) <= set(self.measured):
            return
        if all(max(own / self.measured[other], self.measured[other] / own) > ALIKE for other in others):
            self.known[name] = min(own, self.known.get(name, math.inf))


def call_of(row):
    operation = row["operation"].lower()
    if operation == "reduce_scatter":  # all blocks of the file have one size
        operation = "reduce_scatter_block"
    nodes = math.prod(map(int, row["nodes"].split("x")))
    per_node, ranks = int(row["ranks_per_node"]), None
    # The column says 1 where ranks were started by an option that the note has, "4 tasks per node", and that many on
    # each node but the last one, "Test 2048 tasks on lumi".
    notes = row["notes"].split()
    if notes[1:] == ["tasks", "per", "node"]:
        per_node = int(notes[0])
    elif "tasks" in notes:
        ranks = int(notes[notes.index("tasks") - 1])
    return Call(row["machine"], nodes, per_node, ranks or nodes * per_node, operation, int(row["bytes"]))


def read(path):
    """The cells of a file. Sessions have nodes of their own, so that times of different ones do not compare."""
    cells = {}
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            raise SystemExit(f"real: {path} has no column {', '.join(missing)}")
        for row in rows:
            seconds = float(row["median_ns"]) * 1e-9
            if seconds < LEAST:
                continue
            call, session = call_of(row), (row["session"], row["notes"].strip())
            cells.setdefault((call, session), Cell(call, session)).add(row["algorithm"], seconds)
    for cell in cells.values():
        cell.name_own()
    return list(cells.values())
