// SPDX-License-Identifier: BSD-3-Clause
// The messages of Open MPI's interfaces of Fortran, which TUTTI_CHECK and TUTTI_WATCHDOG follow as in ../messages.cpp.
#include <mpi.h>

#include "open_mpi/procedures.hpp"

#ifdef OPEN_MPI

namespace tutti::preload {
namespace {

int improbe(int from, int tag, MPI_Comm comm, Flag& flag, MPI_Message* message, MPI_Status* status) {
  return MPI_Improbe(from, tag, comm, flag.value(), message, status);
}

}  // namespace
}  // namespace tutti::preload

using namespace tutti::preload;

TUTTI_MPI_FORTRAN(6, send, MPI_Send)
TUTTI_MPI_FORTRAN(6, ssend, MPI_Ssend)
TUTTI_MPI_FORTRAN(6, rsend, MPI_Rsend)
TUTTI_MPI_FORTRAN(6, bsend, MPI_Bsend)
TUTTI_MPI_FORTRAN(7, isend, MPI_Isend)
TUTTI_MPI_FORTRAN(7, issend, MPI_Issend)
TUTTI_MPI_FORTRAN(7, irsend, MPI_Irsend)
TUTTI_MPI_FORTRAN(7, ibsend, MPI_Ibsend)
TUTTI_MPI_FORTRAN(7, send_init, MPI_Send_init)
TUTTI_MPI_FORTRAN(7, ssend_init, MPI_Ssend_init)
TUTTI_MPI_FORTRAN(7, rsend_init, MPI_Rsend_init)
TUTTI_MPI_FORTRAN(7, bsend_init, MPI_Bsend_init)
TUTTI_MPI_FORTRAN(7, recv, MPI_Recv)
TUTTI_MPI_FORTRAN(7, irecv, MPI_Irecv)
TUTTI_MPI_FORTRAN(7, recv_init, MPI_Recv_init)
TUTTI_MPI_FORTRAN(12, sendrecv, MPI_Sendrecv)
TUTTI_MPI_FORTRAN(9, sendrecv_replace, MPI_Sendrecv_replace)
TUTTI_MPI_FORTRAN(4, probe, MPI_Probe)
TUTTI_MPI_FORTRAN(5, mprobe, MPI_Mprobe)
TUTTI_MPI_FORTRAN_LOGICAL(6, improbe, improbe)

#endif
