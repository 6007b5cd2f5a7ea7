! SPDX-License-Identifier: BSD-3-Clause
! A client that knows Tutti only as installed: sums the ranks and checks the result.
program client
  use mpi
  use tutti
  implicit none
  type(tutti_comm) :: comm
  real :: x(10, 100)
  integer :: rank, ranks, ierr

  call MPI_Init(ierr)
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)

  x = real(rank)
  call tutti_allreduce(comm, x, tutti_sum)
  if (any(x /= real(ranks*(ranks - 1)/2))) error stop "wrong sum"
  if (rank == 0) print '(a, f0.1)', "sum of ranks ", x(1, 1)

  call tutti_comm_free(comm)
  call MPI_Finalize(ierr)
end program client
