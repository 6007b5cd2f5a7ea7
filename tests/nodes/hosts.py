# SPDX-License-Identifier: BSD-3-Clause
"""Hosts of one machine: network, IPC, PID, host name and mount namespaces with a /dev/shm of their own, on one bridge."""
import contextlib
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

SCRIPT = """#!/bin/sh
# Launchers call this in place of ssh: OPTIONS HOST COMMAND...; a host is the last number of its address.
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1
shift
name={prefix}${{host##*.}}
exec {pin} ip netns exec "$name" unshare --fork --kill-child --pid --ipc --uts --mount --mount-proc \\
  sh -c "hostname $name; mount -t tmpfs tmpfs /dev/shm; $*"
"""

SERIALS = itertools.count()


def run(*command):
    subprocess.run(command, check=True, capture_output=True, text=True)


def missing():
    """Why there can be no such hosts here; "" if there can."""
    if os.geteuid() != 0:
        return "hosts of namespaces need root"
    for tool in ("ip", "unshare"):
        if shutil.which(tool) is None:
            return f"hosts of namespaces need the command {tool}"
    probe = subprocess.run(["unshare", "--net", "--pid", "--mount", "--uts", "--ipc", "--fork", "true"],
                           capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        return probe.stderr.strip()
    try:
        with Hosts(1):
            return ""
    except subprocess.CalledProcessError as error:
        return f"{' '.join(error.cmd)}: {error.stderr.strip()}"


class Hosts:
    """Hosts 1 to count, while the context lasts. rate: of each network card, as "10gbit"; None: as fast as it goes.
    burst: what a card that was idle takes at once. pins: each host has one core of the machine."""

    def __init__(self, count, rate=None, pins=False, burst="2mb"):
        self.count = count
        self.rate = rate
        self.burst = burst
        self.pin = f"taskset -c $(((${{host##*.}} - 1) % {os.cpu_count()}))" if pins else ""
        # The kernel removes the names of hosts that were here before some time after them.
        serial = next(SERIALS)
        self.prefix = f"th{os.getpid() % 100000}x{serial}n"
        self.bridge = f"tb{os.getpid() % 100000}x{serial}"
        self.net = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
        self.folder = tempfile.TemporaryDirectory()

    def __enter__(self):
        run("ip", "link", "add", self.bridge, "type", "bridge")
        try:
            run("ip", "addr", "add", f"{self.net}.254/24", "dev", self.bridge)
            run("ip", "link", "set", self.bridge, "up")
            for number in range(1, self.count + 1):
                self.add(number)
        except subprocess.CalledProcessError:
            self.__exit__()
            raise
        script = pathlib.Path(self.script())
        script.write_text(SCRIPT.format(prefix=self.prefix, pin=self.pin))
        script.chmod(0o755)
        return self

    def add(self, number):
        name, outer = f"{self.prefix}{number}", f"{self.bridge}e{number}"
        run("ip", "netns", "add", name)
        run("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", outer, "master", self.bridge, "up")
        run("ip", "-n", name, "addr", "add", f"{self.net}.{number}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            run("ip", "-n", name, "link", "set", device, "up")
        if self.rate:
            for place in (["-n", name, "qdisc", "add", "dev", "eth0"], ["qdisc", "add", "dev", outer]):
                run("tc", *place, "root", "tbf", "rate", self.rate, "burst", self.burst, "latency", "50ms")

    def __exit__(self, *_):
        for number in range(1, self.count + 1):
            subprocess.run(["ip", "netns", "del", f"{self.prefix}{number}"], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", self.bridge], capture_output=True, check=False)
        self.folder.cleanup()

    def add_networks(self):
        """Gives each host a network of its own, to which no other host is connected."""
        for number in range(1, self.count + 1):
            name = f"{self.prefix}{number}"
            run("ip", "-n", name, "link", "add", "alone", "type", "veth", "peer", "name", "end")
            run("ip", "-n", name, "addr", "add", f"198.18.{number}.1/24", "dev", "alone")
            for device in ("alone", "end"):
                run("ip", "-n", name, "link", "set", device, "up")

    def cut(self, number):
        """Takes a host off the network, as if its power were gone."""
        run("ip", "link", "set", f"{self.bridge}e{number}", "down")

    def end_all(self):
        """Ends what still runs on the hosts."""
        for number in range(1, self.count + 1):
            told = subprocess.run(["ip", "netns", "pids", f"{self.prefix}{number}"], capture_output=True, text=True,
                                  check=False)
            for process in map(int, told.stdout.split()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def addresses(self):
        return [f"{self.net}.{number}" for number in range(1, self.count + 1)]

    def subnet(self):
        return f"{self.net}.0/24"

    def script(self):
        """Takes the place of ssh."""
        return f"{self.folder.name}/launcher"

    def launcher(self, mpiexec, ranks_a_host):
        """The words before "-n RANKS program" of Hydra's launcher."""
        return [*mpiexec, "-localhost", f"{self.net}.254", "-launcher", "ssh", "-launcher-exec", self.script(),
                "-hosts", ",".join(self.addresses()), "-ppn", str(ranks_a_host)]
