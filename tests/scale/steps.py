# SPDX-License-Identifier: BSD-3-Clause
"""One training step of tutti-dlrm and of tutti-sgd: what it computes and sends on a rank, and what hides what.

Every rank has as much to do, however many there are: the batch of a rank stays, the global one grows. Collectives are
those of miniapps/ and src/training, a call is (operation, bytes).
"""
import dataclasses

FLOAT = 4
ALIGNMENT = 64  # of an entry of a bucket: src/training/reducer/bucket_plan.hpp
AGREEMENT = 5 * 8  # src/training/embedding/pending_input.cpp: words_
STATUS = 8  # src/training/reducer/launch_queue.cpp: status_


def values(widths):
    """Weights and biases of layers."""
    return sum((i + 1) * o for i, o in zip(widths, widths[1:]))


def products(widths, with_input_gradient):
    """Products of a sample's backward: those of the weights' gradient and of the input's, which the first layer may
    not need."""
    layers = [i * o for i, o in zip(widths, widths[1:])]
    return 2 * sum(layers) - (0 if with_input_gradient else layers[0])


@dataclasses.dataclass
class Shards:
    """What tutti_scale_shards says: columns of the rank with most, and the seconds of its lookups and updates."""
    vectors: int
    gradients: int
    seconds: float
    bytes: int
    ways: str


class Dlrm:
    """The model of the preset mlperf-v1-bench, whose tables have `nodes` times its rows."""
    name = "dlrm"
    title = "DLRM"
    BATCH = 256
    DIM = 128
    ROWS = (1000000, 39043, 17289, 7420, 20263, 3, 7120, 1543, 63, 1000000, 1000000, 403346, 10, 2208, 11938, 155, 4,
            976, 14, 1000000, 1000000, 1000000, 585935, 12972, 108, 36)
    BOTTOM = (13, 512, 256, 128)
    TOP = (479, 1024, 1024, 512, 256, 1)
    PHASES = ("wait for data", "input", "lookup", "bottom", "interaction", "top", "backward", "update", "other")

    def rows(self, nodes):
        return [rows * nodes for rows in self.ROWS]

    def command(self, nodes, steps):
        """Of the program, beside --json-file."""
        return ["tutti-dlrm", "--preset", "mlperf-v1-bench", f"--mini-batch-size={self.BATCH * nodes}",
                "--max-ind-range=-1", f"--num-batches={steps}", f"--print-freq={steps}",
                "--arch-embedding-size=" + "-".join(map(str, self.rows(nodes)))]

    def calls(self, nodes, shards):
        """A block is that of the rank with most columns. Top and interaction have a bucket, bottom has one."""
        block = self.BATCH * FLOAT * nodes
        return {"agreement": ("allreduce", AGREEMENT),
                "vectors": ("alltoallv", block * shards.vectors),
                "gradients": ("alltoallv", block * shards.gradients),
                "dense of top": ("allreduce", values(self.TOP) * FLOAT),
                "dense of bottom": ("allreduce", values(self.BOTTOM) * FLOAT),
                "status": ("allreduce", STATUS)}

    def groups(self):
        """Columns of the table: what large calls there are."""
        return {"vectors, alltoallv": ["vectors"], "their gradients, alltoallv": ["gradients"],
                "dense gradients, allreduce": ["dense of top", "dense of bottom"]}

    def compute(self, phases, factor, update_of_value):
        """The phases on one of several ranks, from those of one: lookups and tables' updates take `factor` as long."""
        dense = min(phases["update"], update_of_value * (values(self.TOP) + values(self.BOTTOM)))
        bottom = products(self.BOTTOM, False)
        share = bottom / (bottom + products(self.TOP, True))
        return {"input": phases["wait for data"] + phases["input"] + phases["other"],
                "lookup": phases["lookup"] * factor,
                "bottom": phases["bottom"],
                "top": phases["interaction"] + phases["top"],
                "backward of top": phases["backward"] * (1 - share),
                "backward of bottom": phases["backward"] * share,
                "update of tables": (phases["update"] - dense) * factor,
                "update of dense": dense}

    def overlapped(self, c, t):
        """As miniapps/dlrm/model.cpp: vectors go beside the bottom's forward; gradients of vectors, and those of top,
        beside the bottom's backward; all dense gradients beside the update of the tables. The network serves one call
        after the other."""
        forward = c["input"] + max(c["lookup"], t["agreement"]) + max(c["bottom"], t["vectors"]) + c["top"]
        begin = forward + c["backward of top"]
        arrived = begin + t["gradients"]
        bottom = begin + c["backward of bottom"]
        dense = max(bottom, arrived + t["dense of top"]) + t["dense of bottom"] + t["status"]
        tables = max(bottom, arrived) + c["update of tables"]
        return max(dense, tables) + c["update of dense"]


class Sgd:
    """A perceptron of four wide layers, data-parallel: a bucket is reduced while backward goes on."""
    name = "sgd"
    title = "SGD"
    BATCH = 64
    WIDTHS = (256, 2048, 2048, 2048, 2048, 2)
    FIRST_BUCKET = 1 << 20
    BUCKET = 25 << 20
    PHASES = ("data", "forward", "backward", "communication", "update", "other")

    def command(self, nodes, steps):
        return ["tutti-sgd", "--data=generated", "--model=mlp", f"--features={self.WIDTHS[0]}",
                f"--classes={self.WIDTHS[-1]}", "--hidden=" + "-".join(map(str, self.WIDTHS[1:-1])),
                f"--batch-size={self.BATCH * nodes}", f"--samples={self.BATCH * nodes * steps}", "--no-test-at-end",
                f"--print-freq={steps}", "--learning-rate=0.001"]

    def tensors(self):
        """In the order in which backward completes them: bytes, and the products done by then."""
        done = 0
        for layer in reversed(range(len(self.WIDTHS) - 1)):
            i, o = self.WIDTHS[layer:layer + 2]
            done += i * o * (2 if layer > 0 else 1)
            yield o * FLOAT, done
            yield i * o * FLOAT, done

    def buckets(self):
        """As plan_buckets() fills them: bytes, and the share of backward that is over when the last one is complete."""
        whole = products(self.WIDTHS, False)
        found, limit = [[0, 0, 0]], self.FIRST_BUCKET  # bytes, bytes with the padding of the last, products
        for size, done in self.tensors():
            if found[-1][1] > 0 and found[-1][1] + size > limit:
                found.append([0, 0, 0])
                limit = self.BUCKET
            padded = -(-size // ALIGNMENT) * ALIGNMENT
            found[-1] = [found[-1][1] + size, found[-1][1] + padded, done]
        return [(size, done / whole) for size, _, done in found]

    def calls(self, nodes, shards):
        return {**{f"bucket {i}": ("allreduce", size) for i, (size, _) in enumerate(self.buckets())},
                "status": ("allreduce", STATUS)}

    def groups(self):
        return {"gradients, allreduce": [f"bucket {i}" for i in range(len(self.buckets()))]}

    def compute(self, phases, factor, update_of_value):
        """What one rank does in calls that communicate are copies into buckets and out of them."""
        return {"data": phases["data"] + phases["other"], "forward": phases["forward"],
                "backward": phases["backward"], "copies": phases["communication"], "update": phases["update"]}

    def overlapped(self, c, t):
        """Buckets one after the other, each from when it is complete."""
        sent = 0
        for i, (_, share) in enumerate(self.buckets()):
            sent = max(sent, c["backward"] * share) + t[f"bucket {i}"]
        return c["data"] + c["forward"] + max(c["backward"], sent) + c["copies"] + t["status"] + c["update"]


APPS = (Dlrm(), Sgd())
