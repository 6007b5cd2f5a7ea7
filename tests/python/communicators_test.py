# SPDX-License-Identifier: BSD-3-Clause
"""Communicators: parts, mpi4py, handles of Fortran, the ends of their lives."""

import numpy as np
from support import comm, equal, raises, rank, size

import tutti


def test_world():
    assert tutti.world() is comm and 0 <= rank < size
    assert tutti.version() == tutti.__version__ and tutti.version() in tutti.config_summary()
    topology = comm.topology
    assert len(topology.places) == size and sum(topology.ranks_per_node) == size
    levels = topology.network_groups
    assert all(len(groups) == topology.nodes for groups in levels) and bool(levels) == bool(topology.network_source)


def test_split():
    for i in range(20):
        with comm.split((rank + i) % 2, key=-rank) as part:
            members = [r for r in reversed(range(size)) if (r + i) % 2 == (rank + i) % 2]
            assert part.size == len(members) and members[part.rank] == rank
            equal(part.allreduce(np.full(3, rank)), np.full(3, sum(members)))
    assert comm.split(None if rank else 0) is None or rank == 0
    node = comm.split_by_node()
    assert node.size == comm.topology.ranks_per_node[comm.topology.places[rank].node]
    node.free()
    other = comm.dup()
    equal(other.allreduce(np.ones(2)), np.full(2, size))
    other.free()
    with raises(tutti.Error, tutti.ErrorCode.INVALID_COMMUNICATOR):
        other.barrier()
    other.free()


def test_mpi4py():
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        return f"mpi4py: {error}"
    assert MPI.Is_initialized() and MPI.COMM_WORLD.rank == rank
    turned = MPI.COMM_WORLD.Split(0, -rank)
    with tutti.Communicator(turned, name="turned") as part:
        assert part.rank == size - 1 - rank and part.name == "turned"
        equal(part.allreduce(np.full(2, rank)), np.full(2, sum(range(size))))
        theirs = MPI.Comm.f2py(part.fortran_handle)
        assert theirs.rank == part.rank and theirs.size == size
    with tutti.Communicator(turned.py2f()) as part:
        assert part.rank == size - 1 - rank
    turned.Free()
    with raises(tutti.Error, tutti.ErrorCode.INVALID_COMMUNICATOR):
        tutti.Communicator(MPI.COMM_NULL)


def test_wrong_arguments():
    with raises(TypeError, text="argument color is of type str; pass an integer or None"):
        comm.split("odd")
    with raises(TypeError, text="mpi4py"):
        tutti.Communicator("world")
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT):
        tutti.Communicator(check="some")


def test_dropped():
    comm.dup()  # lives until MPI_Finalize
    comm.barrier()
