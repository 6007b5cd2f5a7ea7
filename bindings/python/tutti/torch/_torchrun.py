# SPDX-License-Identifier: BSD-3-Clause
"""Makes the processes of torchrun ranks of one MPI job.

MPI ranks find each other through their launcher, by the protocol PMI 1 over a file descriptor (PMI_FD). torchrun does
not speak it, so rank 0 answers here, for MPICH and MPIs made from it. MPI_Comm_connect, which would join processes
that MPI has started alone, is missing in MPICH's UCX device.
"""

import atexit
import os
import socket
import threading
from typing import Any

_kept: list[Any] = []


class _Server:
    """The keys and barriers of a job."""

    def __init__(self, size: int, ranks_per_node: int) -> None:
        self.size = size
        self.keys = {"PMI_process_mapping": f"(vector,(0,{max(1, size // ranks_per_node)},{ranks_per_node}))"}
        self.lock = threading.Lock()
        self.waiting: list[socket.socket] = []
        self.listener = socket.create_server(("", 0), backlog=size)
        self.threads: list[threading.Thread] = []

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def accept(self) -> None:
        for _ in range(self.size):
            connection, _address = self.listener.accept()
            thread = threading.Thread(target=self.serve, args=(connection,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("r") as lines:
                for line in lines:
                    command, _, rest = line.strip().removeprefix("cmd=").partition(" ")
                    head, _, value = rest.partition(" value=")
                    words = dict(word.split("=", 1) for word in head.split() if "=" in word)
                    self.answer(connection, command, words, value)
                    if command == "finalize":
                        return
        except OSError:
            return  # the rank has ended

    def answer(self, connection: socket.socket, command: str, words: dict[str, str], value: str) -> None:
        if command == "barrier_in":
            self.enter(connection)
            return
        if command == "put":
            with self.lock:
                self.keys[words["key"]] = value
        found = self.keys.get(words.get("key", ""))
        replies = {
            "init": "response_to_init pmi_version=1 pmi_subversion=1 rc=0",
            "get_maxes": "maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
            "get_appnum": "appnum appnum=0",
            "get_universe_size": f"universe_size size={self.size}",
            "get_my_kvsname": "my_kvsname kvsname=torchrun",
            "put": "put_result rc=0 msg=success",
            "get": f"get_result rc=0 msg=success value={found}" if found is not None
            else "get_result rc=-1 msg=key_not_found value=unknown",
            "finalize": "finalize_ack",
        }
        connection.sendall(f"cmd={replies.get(command, command + ' rc=-1 msg=unknown')}\n".encode())

    def enter(self, connection: socket.socket) -> None:
        with self.lock:
            self.waiting.append(connection)
            if len(self.waiting) < self.size:
                return
            entered, self.waiting = self.waiting, []
        for other in entered:
            other.sendall(b"cmd=barrier_out\n")


def _finish_last(server: _Server) -> None:
    """Other ranks still ask rank 0 while they finalize MPI."""
    from .. import _environment

    _environment._finish()
    for thread in server.threads:
        thread.join(timeout=10)


def join() -> None:
    """Sets the variables by which MPI_Init finds the other ranks. Collective over the processes of torchrun."""
    import torch.distributed as dist

    if "PMI_FD" in os.environ or "PMI_RANK" in os.environ or "PMIX_RANK" in os.environ:
        return  # an MPI launcher has started torchrun's processes
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = next(iter(dist.rendezvous("env://", rank, size)))[0]
    store = dist.PrefixStore("tutti/pmi/" + os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), store)
    if rank == 0:
        server = _Server(size, int(os.environ.get("LOCAL_WORLD_SIZE", size)))
        threading.Thread(target=server.accept, daemon=True).start()
        atexit.register(_finish_last, server)
        address = os.environ["MASTER_ADDR"] if os.environ.get("GROUP_RANK", "0") == "0" else socket.gethostname()
        store.set("address", f"{address}:{server.port}")
    host, port = store.get("address").decode().rsplit(":", 1)
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    os.set_inheritable(connection.fileno(), False)
    connection.setblocking(True)
    os.environ.update(PMI_FD=str(connection.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(size))
    _kept.extend([connection, store])
