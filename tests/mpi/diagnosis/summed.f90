! SPDX-License-Identifier: BSD-3-Clause
! Three sums of all ranks, for `tutti diff`; with an argument the last rank adds other data to the second one.
program summed
  use mpi
  use tutti
  implicit none
  type(tutti_comm) :: comm
  real :: x(48)
  integer :: code, rank, size, step, i
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  do step = 1, 3
    x = [(real(i * step), i = 0, 47)]
    if (command_argument_count() > 0 .and. step == 2 .and. rank == size - 1) x(31) = -1
    call tutti_allreduce(comm, x, tutti_sum)
  end do
  call tutti_comm_free(comm)
  call MPI_Finalize(code)
end program summed
