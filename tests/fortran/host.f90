! SPDX-License-Identifier: BSD-3-Clause
!> The constants of the host MPI: peers, tags, MPI_IN_PLACE of both modules, datatypes and operations.
module host_f90
  use check
  use mpi, only: MPI_IN_PLACE, MPI_DOUBLE_PRECISION, MPI_MAX
  implicit none
  private
  public :: test_module_mpi

contains

  subroutine test_module_mpi(g)
    type(group), intent(in) :: g
    integer(int64) :: x(5)
    type(tutti_datatype) :: datatype
    type(tutti_op) :: op
    x = some(g%rank, 0, 5, 1)
    call tutti_allreduce(g%comm, MPI_IN_PLACE, x, tutti_sum)
    call expect(all(x == sums(0, g%size - 1, 0, 5, 1)), "MPI_IN_PLACE of mpi")
    call tutti_datatype_from_mpi(MPI_DOUBLE_PRECISION, datatype)
    call expect(datatype == tutti_float64, "datatype_from_mpi of an integer")
    call tutti_op_from_mpi(MPI_MAX, op)
    call expect(op == tutti_max, "op_from_mpi of an integer")
  end subroutine test_module_mpi

end module host_f90

module host
  use check
  use host_f90, only: test_module_mpi
  use mpi_f08, only: MPI_IN_PLACE, MPI_PROC_NULL, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_LOGICAL, MPI_2INTEGER, MPI_MINLOC, &
    MPI_REPLACE, MPI_DATATYPE_NULL
  implicit none
  private
  public :: test_host

contains

  subroutine test_host(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(4), received(4)
    type(tutti_request) :: request
    type(tutti_status) :: status
    type(tutti_datatype) :: datatype
    type(tutti_op) :: op
    integer :: last, code
    last = modulo(g%rank - 1, g%size)
    sent = some(g%rank, 0, 4, 1)
    received = -1
    call tutti_send(g%comm, sent, int(MPI_PROC_NULL), 1)
    call tutti_recv(g%comm, received, int(MPI_PROC_NULL), int(MPI_ANY_TAG), status)
    call expect(all(received == -1) .and. status%source == tutti_proc_null, "MPI_PROC_NULL")
    call tutti_irecv(g%comm, received, int(MPI_ANY_SOURCE), int(MPI_ANY_TAG), request)
    call tutti_send(g%comm, sent, modulo(g%rank + 1, g%size), 2)
    call tutti_wait(request)
    call expect(all(received == some(last, 0, 4, 1)), "MPI_ANY_SOURCE")
    call tutti_barrier(g%comm)
    received = sent
    call tutti_allreduce(g%comm, MPI_IN_PLACE, received, tutti_sum)
    call expect(all(received == sums(0, g%size - 1, 0, 4, 1)), "MPI_IN_PLACE of mpi_f08")
    call tutti_send(g%comm, sent, int(MPI_ANY_SOURCE), 2, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "dest")
    call tutti_datatype_from_mpi(MPI_LOGICAL, datatype)
    call expect(datatype == tutti_logical32, "datatype_from_mpi")
    call tutti_datatype_from_mpi(MPI_2INTEGER, datatype)
    call expect(datatype == tutti_int32_int32, "datatype_from_mpi of a pair")
    call tutti_datatype_from_mpi(MPI_DATATYPE_NULL, datatype, code)
    call expect_failure(code, tutti_error_invalid_datatype, "MPI_DATATYPE_NULL")
    call tutti_op_from_mpi(MPI_MINLOC, op)
    call expect(op == tutti_minloc, "op_from_mpi")
    call tutti_op_from_mpi(MPI_REPLACE, op, code)
    call expect_failure(code, tutti_error_invalid_op, "op")
    call test_module_mpi(g)
  end subroutine test_host

end module host
