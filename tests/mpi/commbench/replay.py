# SPDX-License-Identifier: BSD-3-Clause
"""Replays traces: the calls and bytes of a traced program come again, results are verified, and what cannot be replayed
ends on all ranks with one line."""
import argparse
import collections
import json
import os
import shlex
import subprocess
import sys
import tempfile

QUICK = ["--budget=1e-5", "--rounds=1", "--min-iterations=2", "--warm-up=1", "--overlap-tests=2"]
LEFT_OUT = {"make_communicator", "free_communicator", "split", "finalize", "allocate", "probe", "prepare_device"}


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


class Runner:
    def __init__(self, options):
        self.ranks, self.program, self.dlrm = options.ranks, options.program, options.dlrm
        self.launcher = shlex.split(options.launcher)
        self.folder = tempfile.TemporaryDirectory(prefix="tutti-replay-")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, value):
        text = value if isinstance(value, (str, bytes)) else json.dumps(value)
        with open(self.path(name), "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        return self.path(name)

    def start(self, command, trace=None):
        environment = {**os.environ, "TUTTI_TIMEOUT": "60"}
        if trace:
            environment["TUTTI_TRACE"] = trace
        return subprocess.run(self.launcher + ["-n", str(self.ranks)] + command, env=environment, text=True,
                              capture_output=True, timeout=110, check=False)

    def replay(self, files, flags=(), trace=None):
        """Runs to a good end; gives what --json wrote."""
        out = self.path("out.json")
        done = self.start([self.program, "replay", *files, "--json", out, *flags], trace)
        expect(done.returncode == 0, f"{files} {flags}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
        with open(out, encoding="utf-8") as file:
            document = json.load(file)
        expect(document["wrong"] == 0 and len(document["ranks"]) == self.ranks, document)
        return document, done.stdout


def calls_in(path, leave_first):
    """How often each rank made each call. leave_first: of a replay, without the calls that are its own: those of the
    communicator that was made first, and of its setup."""
    with open(path, encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and e["cat"] not in ("range", "wait")]
    marks = [e["args"]["mark"] for e in events if "mark" in e["args"]]
    found = collections.Counter()
    for event in events:
        facts = event["args"]
        is_own = leave_first and (facts.get("mark") == marks[0] or facts.get("communicator") == "replay setup")
        if facts["call"] in LEFT_OUT or "mark" not in facts or is_own:
            continue
        messages = sorted(json.dumps(m, sort_keys=True) for m in facts.get("messages", []))
        found[(event["pid"], facts["call"], facts["form"], facts.get("datatype"), facts.get("op"), facts["bytes"],
               facts.get("root"), facts.get("peer"), facts.get("tag"), str(facts.get("send_bytes")),
               str(facts.get("recv_bytes")), str(messages))] += 1
    return found


def round_trip(runner, command):
    """The trace of a program, and the trace of its replay."""
    first, second = runner.path("first.json"), runner.path("second.json")
    done = runner.start(command, first)
    expect(done.returncode == 0, done.stdout[-2000:] + done.stderr)
    document, _ = runner.replay([first], ["--gaps=drop", "--repeats=1", "--check=off"], second)
    recorded, replayed = calls_in(first, False), calls_in(second, True)
    expect(recorded, "the trace has no calls")
    expect(recorded == replayed, f"only recorded: {list((recorded - replayed).items())[:3]}\n"
           f"only replayed: {list((replayed - recorded).items())[:3]}")
    expect(document["all"]["calls"] > 0 and document["all"]["recorded_s"] > 0, document["all"])
    document, _ = runner.replay([first], ["--gaps=drop", "--check=all", "--repeats=1", "--buffer-bytes=64K"])
    expect(document["checked"] >= document["all"]["calls"], f"{document['checked']} of {document['all']['calls']}")


def operations(runner):
    """Every collective in every form, of a program that is traced."""
    round_trip(runner, [runner.program, "-o", "all", "--modes", "all", "-a", "auto", "--low=64", "--high=1KB",
                        "--factor=16", "--splits=uneven"] + QUICK)


def dlrm(runner):
    round_trip(runner, [runner.dlrm, "--mini-batch-size", "64", "--data-size", "192"])


def param_calls(rank, ranks):
    """A basic trace of PARAM: uneven splits, a communicator in another order, messages around a ring."""
    split = [(rank + to) % 3 for to in range(ranks)]
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    size = {"in_msg_size": 40, "out_msg_size": 40, "dtype": "Float"}
    return [
        {"comms": "init", "pg_id": 1, "global_ranks": list(reversed(range(ranks)))},
        {"comms": "all_reduce", "req": 1, **size, "startTime_ns": 0},
        {"comms": "all_to_allv", "req": 2, "in_msg_size": sum(split), "out_msg_size": sum(split), "dtype": "int",
         "in_split": split, "out_split": split, "startTime_ns": 20000},
        {"comms": "broadcast", "req": 3, "root": 0, "pg_id": 1, **size, "startTime_ns": 30000},
        {"comms": "send", "src_rank": rank, "dst_rank": after, "req": 4, **size, "startTime_ns": 40000},
        {"comms": "recv", "src_rank": before, "dst_rank": rank, "req": 5, **size, "startTime_ns": 41000},
        {"comms": "wait", "req": 5, "startTime_ns": 42000},
        {"comms": "wait", "req": 2, "startTime_ns": 50000},
        {"comms": "all_gather", "in_msg_size": 3, "out_msg_size": 3 * ranks, "dtype": "bool", "startTime_ns": 60000},
        {"comms": "reduce_scatter", "in_msg_size": 3 * ranks, "out_msg_size": 3, "dtype": "bfloat16",
         "startTime_ns": 70000},
        {"comms": "barrier", "startTime_ns": 80000}]


def param(runner):
    files = [runner.write(f"{rank}.json", param_calls(rank, runner.ranks)) for rank in range(runner.ranks)]
    document, text = runner.replay(files, ["--check=all"])
    expect(document["format"] == "param" and document["all"]["calls"] == 8 * runner.ranks, document["all"])
    expect(document["checked"] == 4 * 8 * runner.ranks, document["checked"])
    names = {one["call"] for one in document["calls"]}
    expect(document["all"]["replayed_length_s"] >= document["all"]["recorded_length_s"] > 7e-5, "the gaps are kept")
    expect({"allreduce", "ialltoallv", "bcast", "isend", "irecv", "allgather", "reduce_scatter_block", "barrier"}
           <= names, names)
    expect("none wrong" in text, text)
    shared = runner.write("shared.trace", [c for c in param_calls(0, runner.ranks)
                                           if c["comms"] in ("all_reduce", "all_gather", "barrier")])
    document, _ = runner.replay([shared])
    expect(document["all"]["calls"] == 3 * runner.ranks, "one file that each rank takes as its own")
    if runner.ranks > 1:
        runner.ranks -= 1
        document, _ = runner.replay(files, ["--shrink", "--check=all"])
        expect(document["all"]["calls"] >= 7 * runner.ranks, document["all"])


def varint(value):
    low = value & 0x7F
    return bytes([low]) if value < 128 else bytes([low | 0x80]) + varint(value >> 7)


def field(number, value):
    """A field of Protocol Buffers: a number, or a text or message with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def chakra_node(number, kind, attributes, start=0, length=0):
    """Of MLCommons Chakra's schema: numbers of fields and types as in schema/protobuf/et_def.proto."""
    data = field(1, number) + field(2, f"node {number}") + field(3, kind) + field(6, start) + field(7, length)
    for name, value in attributes.items():
        data += field(10, field(1, name) + field(29 if isinstance(value, str) else 9, value))
    return data


def chakra_file(nodes):
    messages = [field(1, "0.0.4")] + nodes
    return b"".join(varint(len(message)) + message for message in messages)


def chakra_nodes(rank, ranks):
    computation, send, recv, collective = 4, 5, 6, 7
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    kinds = [0, 1, 2, 3, 4, 5, 6, 7, 9]  # all of Chakra's collectives; 8 is one with equal blocks too
    nodes = [chakra_node(0, computation, {"num_ops": 5}, length=40)]
    nodes += [chakra_node(1 + i, collective, {"comm_type": kind, "comm_size": 24 * ranks, "pg_name": "0"}, length=10)
              for i, kind in enumerate(kinds)]
    return nodes + [chakra_node(20, send, {"comm_size": 100, "comm_dst": after, "comm_tag": 3}),
                    chakra_node(21, recv, {"comm_size": 100, "comm_src": before, "comm_tag": 3}),
                    chakra_node(22, send, {"comm_size": 100})]


def chakra(runner):
    os.mkdir(runner.path("chakra"))
    for rank in range(runner.ranks):
        runner.write(f"chakra/trace.{rank}.et", chakra_file(chakra_nodes(rank, runner.ranks)))
    document, _ = runner.replay([runner.path("chakra")], ["--check=all"])
    expect(document["format"] == "chakra" and document["all"]["calls"] == 11 * runner.ranks, document["all"])
    bytes_of = {one["call"]: one["bytes"] // runner.ranks for one in document["calls"]}
    ranks = runner.ranks
    expect(bytes_of == {"allreduce": 24 * ranks, "reduce": 24 * ranks, "allgather": 24 * ranks * ranks,
                        "gather": 24 * ranks * ranks, "scatter": 24 * ranks, "bcast": 24 * ranks,
                        "alltoall": 24 * ranks, "reduce_scatter_block": 24 * ranks, "barrier": 0, "isend": 100,
                        "irecv": 100}, bytes_of)
    expect(document["left_out"] == {"send without comm_dst": ranks}, document["left_out"])
    expect(document["all"]["recorded_length_s"] >= 7e-5, "the lengths of nodes that follow one another")


def errors(runner):
    """One line, named by file, line and field, and no rank is left behind."""
    whole = param_calls(0, runner.ranks)
    cases = [(json.dumps(whole)[:100], ["is the file whole?", "line 1"]),
             (json.dumps([{"comms": "all_reduce", "out_msg_size": 1, "dtype": "int"}]), ["'in_msg_size'", "missing"]),
             ("[]", ["no calls"]), ("no trace", ["is no trace"]),
             (b"tutflght" + bytes(64), ["flight record", "TUTTI_TRACE=trace.json"]),
             (b"\x1f\x8b\x08" + bytes(64), ["gunzip"]), (bytes(range(64)), ["is no trace"]),
             (chakra_file(chakra_nodes(0, 2))[:-3], ["message 14", "is the file whole?"]),
             (chakra_file([chakra_node(0, 7, {"comm_type": 77})]), ["message 2", "'comm_type'", "from 0 to 9"]),
             (chakra_file([chakra_node(0, 7, {"comm_type": 6})]), ["'comm_size'", "missing"])]
    for text, words in cases:
        refuse(runner, [runner.write("bad.json", text)], words)
    refuse(runner, ["/no/such/file.json"], ["/no/such/file.json"])
    refuse(runner, [runner.write("uneven.json", whole)], ["expects"])
    if runner.ranks > 1:
        calls = [{"comms": "all_reduce", "in_msg_size": 4, "out_msg_size": 4, "dtype": "int"},
                 {"comms": "all_reduce", "in_msg_size": 8, "out_msg_size": 8, "dtype": "int"}]
        files = [runner.write(f"e{rank}.json", calls[:1] if rank else calls) for rank in range(runner.ranks)]
        refuse(runner, files, ["not equally many", "rank 0 has 2, rank 1 has 1"])
        files = [runner.write(f"e{rank}.json", calls[1:] if rank else calls[:1]) for rank in range(runner.ranks)]
        refuse(runner, files, ["differs", "count 4", "count 8"])
    large = runner.write("large.json", [{"comms": "barrier", "pg_id": 0, "global_ranks": list(range(9))}])
    refuse(runner, [large], ["has 9 ranks", "--shrink"])


def refuse(runner, files, words):
    done = runner.start([runner.program, "replay", *files])
    expect(done.returncode != 0, f"{files} was accepted")
    lines = [line for line in done.stderr.splitlines() if line.startswith("tutti-commbench")]
    expect(len(lines) == 1 and all(word in lines[0] for word in words), f"{words}: {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["operations", "dlrm", "param", "chakra", "errors"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--dlrm", help="tutti-dlrm, for that case")
    parser.add_argument("--launcher", required=True, help="launcher and its flags, one string")
    parser.add_argument("--ranks", type=int, required=True)
    options = parser.parse_args()
    globals()[options.what](Runner(options))


main()
