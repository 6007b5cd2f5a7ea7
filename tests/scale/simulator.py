# SPDX-License-Identifier: BSD-3-Clause
"""Runs the program of the study on simulated clusters, by smpirun."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ("fat_tree", "dragonfly")
TAPERED = "tapered"  # the fat tree with half as many links up, of orders.py
NODES = 1024
# What the model of the machine (program/model.hpp) leaves to SimGrid: local work costs nothing, links each way are
# independent, and a send of 16 KiB waits for its receiver.
SETTINGS = ["smpi/simulate-computation:no", "network/crosstraffic:0", "smpi/host-speed:1Gf", "smpi/wtime:0",
            "surf/precision:1e-10", "smpi/send-is-detached-thresh:16384", "contexts/stack-size:256",
            "contexts/guard-size:0"]


class Simulator:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def build(self):
        """Compiles the program over SMPI, and the clusters."""
        log = self.folder / "build.log"
        with log.open("w") as out:
            for command in (["cmake", "-S", ROOT / "tests/scale/program", "-B", self.folder,
                             "-DCMAKE_CXX_COMPILER=smpicxx", "-DCMAKE_BUILD_TYPE=Release"],
                            ["cmake", "--build", self.folder]):
                if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT).returncode != 0:
                    raise SystemExit(f"study: the program cannot be built over SMPI, see {log}:\n{log.read_text()[-2000:]}")

    def _hosts(self, nodes, per_node):
        name = hashlib.sha1(" ".join(map(str, nodes)).encode()).hexdigest()[:12]
        path = self.folder / f"hosts-{name}x{per_node}"
        # Another simulation may read the same file at this moment.
        made = path.with_name(f"{path.name}-{os.getpid()}-{threading.get_ident()}")
        made.write_text("".join(f"node{node}\n" * per_node for node in nodes))
        made.replace(path)
        return path

    def _command(self, nodes, per_node, selector, arguments):
        hosts = self._hosts(nodes, per_node)
        return ["smpirun", "-no-privatize", "-platform", self.folder / "platform.so", "-hostfile", hosts,
                "-np", str(len(nodes) * per_node), *[f"--cfg={setting}" for setting in SETTINGS],
                f"--cfg=smpi/coll-selector:{selector}", "--log=root.thres:critical", self.folder / "tutti_scale",
                *map(str, arguments)]

    def _environment(self, network):
        return dict(os.environ, TUTTI_SCALE_NETWORK=network)

    def links(self, network, nodes, per_node):
        """The links as `tutti tune --links` measures them: a line a level, between the first node and the last, and
        one of all nodes at once."""
        return (self._measured(network, [0, nodes - 1] if nodes > 1 else [0], per_node, "links") +
                (self._measured(network, list(range(nodes)), per_node, "fabric") if nodes > 2 else ""))

    def fabric(self, network, nodes, per_node, groups):
        """The figures of all these nodes at once, and by groups of so many nodes of the cluster ("128,4")."""
        return self._measured(network, nodes, per_node, "fabric", groups)

    def _measured(self, network, nodes, per_node, what, *more):
        done = subprocess.run(self._command(nodes, per_node, "ompi", [what, per_node, *more]), text=True,
                              capture_output=True, env=self._environment(network))
        if done.returncode != 0:
            raise SystemExit(f"study: the {what} of {network} cannot be measured: {done.stderr[-2000:]}")
        return done.stdout

    def time(self, network, nodes, per_node, selector, calls, starts, limit, data=False):
        """The seconds of each call (operation, bytes, way), as far as `limit` seconds of this machine allow. `nodes`: so
        many, from the first one on, or these."""
        nodes = list(range(nodes)) if isinstance(nodes, int) else nodes
        name = f"{network}-{len(nodes)}x{per_node}-{selector}-{threading.get_ident()}"
        path = self.folder / f"calls-{name}"
        path.write_text("".join(f"{operation} {size} {way}\n" for operation, size, way in calls))
        arguments = [path, per_node, *starts] + (["data"] if data else [])
        begin = time.monotonic()
        process = subprocess.Popen(self._command(nodes, per_node, selector, arguments), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                   env=self._environment(network))
        timer = threading.Timer(limit, lambda: os.killpg(process.pid, 9))
        timer.start()
        try:
            out, err = process.communicate()
        finally:
            timer.cancel()
            path.unlink()
        if process.returncode != 0 and (data or time.monotonic() - begin < limit):
            raise SystemExit(f"study: {name} failed: {err[-2000:]}")
        found = {}
        for line in out.splitlines():
            words = line.split()
            # Some of SMPI's algorithms do nothing in a replay.
            if len(words) == 4 and float(words[3]) > 0:
                found[words[0], int(words[1]), words[2]] = float(words[3])
        return found


def built(folder):
    """The simulator with its program, or None where SMPI is not installed, which it says."""
    if shutil.which("smpirun") is None or shutil.which("smpicxx") is None:
        print("skipped: smpirun and smpicxx are not installed (Debian: simgrid, libsimgrid-dev)")
        return None
    sim = Simulator(folder)
    sim.build()
    return sim
