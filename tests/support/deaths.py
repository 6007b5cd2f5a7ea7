# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that go on when some of their ranks die."""
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import time
import uuid

# Hydra of MPICH 4.0.2 kills all ranks, in spite of its flag, once it has waited for one that a signal has ended, and
# sends SIGUSR1 to those that live on. A shell between them turns the signal into an exit code.
SHELL = 'trap : USR1; "$0" "$@"; exit $?'


def flags_to_survive(launcher):
    """The flags by which a launcher lets ranks live on; None if it cannot. Open MPI can from version 5 on."""
    shown = subprocess.run([*shlex.split(launcher), "--version"], capture_output=True, text=True, check=False).stdout
    if "HYDRA" in shown.upper():
        return ["-disable-auto-cleanup"]
    version = re.search(r"Open MPI\) (\d+)", shown)
    return ["--with-ft", "ulfm"] if version and int(version[1]) >= 5 else None


def survives_deaths(launcher):
    """Whether the launcher can let ranks live on."""
    return flags_to_survive(launcher) is not None


def shared_names():
    return {entry.name for entry in pathlib.Path("/dev/shm").glob("tutti-*")}


class Job:
    """Its output goes to a file, because processes that outlive the launcher would keep a pipe open."""

    def __init__(self, launcher, ranks, command, environment=None, lives_on=True):
        self.program = os.path.realpath(command[0])
        self.mark = f"TUTTI_TEST_JOB={uuid.uuid4()}"
        self.names = shared_names()
        self.output = tempfile.TemporaryFile("w+", errors="replace")
        flags = flags_to_survive(launcher) if lives_on else []
        shell = ["sh", "-c", SHELL] if "-disable-auto-cleanup" in flags else []
        line = [*shlex.split(launcher), *flags, "-n", str(ranks), *shell, *command]
        added = dict([self.mark.split("=")], **(environment or {}))
        self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
                                        env={**os.environ, **added}, start_new_session=True)

    def processes(self):
        """The folders in /proc of all that the launcher has started and that still runs."""
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes():
                    yield folder
            except OSError:
                continue

    def ranks(self):
        """The process ids of the ranks, by rank."""
        found = {}
        for folder in self.processes():
            try:
                if os.readlink(folder / "exe") != self.program:
                    continue
                for entry in (folder / "environ").read_bytes().split(b"\0"):
                    if entry.startswith((b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK=")):
                        found[int(entry.split(b"=")[1])] = int(folder.name)
            except OSError:
                continue
        return found

    def wait(self, seconds):
        """True if the job ended in time; else it is killed."""
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            self.end()
            return False

    def end(self):
        for folder in list(self.processes()):
            try:
                os.kill(int(folder.name), signal.SIGKILL)
            except OSError:
                continue
        self.process.wait()

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def problems(self):
        """What a job that has ended has left behind."""
        left = shared_names() - self.names
        for _ in range(20):  # a process that is ending, or the name of another program, is there for a moment only
            alive = list(self.processes())
            if not left and not alive:
                break
            time.sleep(0.1)
            left &= shared_names()
        names = [f"/dev/shm/{name} is left" for name in sorted(left)]
        return [f"process {folder.name} lives" for folder in alive] + names
