# SPDX-License-Identifier: BSD-3-Clause
"""A small real Slurm on this host: munged, slurmctld and two slurmd, each with its own files and ports. All of it lives in
namespaces of its own for processes and mounts, so that the kernel ends the daemons and takes their files away with this
process, whatever ends it."""
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import time

FOLDER = pathlib.Path("/run")  # a tmpfs over it is seen in here only
WITHIN = "TUTTI_TEST_WITHIN_NAMESPACES"
DEVICES = ("null", "zero", "full", "urandom")  # stand for GPUs, which Slurm wants as devices
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo")
UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]

CONFIGURATION = """\
ClusterName=tutti
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
TopologyPlugin=topology/tree
SlurmdParameters=config_overrides
KillOnBadExit=0
KillWait=2
ReturnToService=2
GresTypes=gpu
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MailProg=/bin/true
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=64 Gres=gpu:4 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=64 Gres=gpu:4 State=UNKNOWN
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""

# The network of the two nodes, as Slurm's own file has it.
NETWORK = """\
SwitchName=leaf1 Nodes=n1
SwitchName=leaf2 Nodes=n2
SwitchName=top Switches=leaf[1-2]
"""


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


def enter():
    """Starts this program again within the namespaces, or skips the test where it cannot be done."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        skip(f"no {', '.join(missing)}; Debian: apt-get install slurmctld slurmd slurm-client munge")
    if os.geteuid() != 0:
        skip("slurmd needs root")
    if WITHIN in os.environ:
        return
    if subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", str(FOLDER)], capture_output=True).returncode != 0:
        skip("namespaces of processes and mounts are not allowed here")
    os.environ[WITHIN] = "1"
    os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, *sys.argv])


def is_free(port):
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count):
    """Ports below those that the system gives to connections, so that none is taken between here and the daemons."""
    ports = random.SystemRandom().sample(range(20000, 32000), 50)
    return [port for port in ports if is_free(port)][:count]


def start_munge():
    key = FOLDER / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    subprocess.run(["munged", "--force", f"--key-file={key}", *(f"--{name}-file={FOLDER}/munge.{name}"
                    for name in ("pid", "log", "seed")), f"--socket={FOLDER}/munge.socket"],
                   check=True, stderr=subprocess.DEVNULL)


def idle_nodes():
    done = subprocess.run(["sinfo", "--noheader", "--states=idle", "--format=%D"], capture_output=True, text=True)
    return sum(int(word) for word in done.stdout.split())


def start():
    """Starts the daemons. Returns when both nodes are idle."""
    for folder in (FOLDER, "/dev/shm"):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
    host = socket.gethostname().partition(".")[0]
    configuration = FOLDER / "slurm.conf"
    configuration.write_text(CONFIGURATION.format(host=host, ports=free_ports(3), folder=FOLDER), encoding="utf-8")
    devices = "".join(f"NodeName=n[1-2] Name=gpu File=/dev/{file}\n" for file in DEVICES)
    (FOLDER / "gres.conf").write_text(devices, encoding="utf-8")
    (FOLDER / "topology.conf").write_text(NETWORK, encoding="utf-8")
    os.environ["SLURM_CONF"] = str(configuration)
    start_munge()
    subprocess.run(["slurmctld", "-c"], check=True)
    for node in ("n1", "n2"):
        subprocess.run(["slurmd", "-N", node], check=True)
    end = time.monotonic() + 20
    while idle_nodes() != 2:
        if time.monotonic() > end:
            show_logs()
            sys.exit("Slurm did not come up within 20 s")
        time.sleep(0.05)


def show_logs():
    for log in sorted(FOLDER.glob("*.log")):
        print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}")
