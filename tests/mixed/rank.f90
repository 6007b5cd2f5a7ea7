! SPDX-License-Identifier: BSD-3-Clause
!> The Fortran rank of a run that C, Fortran and C++ ranks share.
program rank_of_fortran
  use mpi_f08
  use tutti
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  type(tutti_comm) :: comm
  type(tutti_request) :: request
  integer :: rank, size, i
  real :: x(2, 3)
  logical :: truth, good
  integer(int64), asynchronous :: mine, all_ranks(64)
  real(real64) :: ball, caught

  call MPI_Init()
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, size)

  x = reshape([(real((rank + 1)*i), i=1, 6)], [2, 3])
  call tutti_allreduce(comm, x, tutti_sum)
  good = all(x == reshape([(real(size*(size + 1)/2*i), i=1, 6)], [2, 3]))

  truth = rank == 0
  call tutti_allreduce(comm, truth, tutti_lor)
  good = good .and. truth

  mine = 10*rank
  call tutti_iallgather(comm, mine, all_ranks(:size), request)
  call tutti_wait(request)
  good = good .and. all(all_ranks(:size) == [(10_int64*i, i=0, size - 1)])

  ball = rank + 0.5d0
  caught = -1
  call tutti_sendrecv(comm, ball, modulo(rank + 1, size), 7, caught, modulo(rank - 1, size), 7)
  good = good .and. caught == modulo(rank - 1, size) + 0.5d0

  call tutti_comm_free(comm)
  print '(a, i0, a, i0, 2a)', "fortran rank ", rank, " of ", size, ": ", merge("good", "bad ", good)
  call MPI_Finalize()
  if (.not. good) error stop 1
end program rank_of_fortran
