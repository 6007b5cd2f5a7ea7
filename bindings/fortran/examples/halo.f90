! SPDX-License-Identifier: BSD-3-Clause
! A metal bar, divided among the ranks, cools down: a group of messages, bound once, exchanges halos at each step;
! allreduce sums the heat.
program halo
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: cells = 1000
  real(8), asynchronous :: bar(0:cells + 1)
  real(8) :: next(cells), heat(1), start(1)
  type(tutti_comm) :: comm
  type(tutti_group) :: group
  type(tutti_request) :: exchange
  integer :: rank, ranks, left, right, step

  call MPI_Init()
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm) ! integer or type(MPI_Comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)

  bar = merge(100, 20, rank == 0)
  start = sum(bar(1:cells))
  call tutti_allreduce(comm, start, tutti_sum)
  call tutti_group_create(comm, group)
  call tutti_group_recv(group, bar(0), left, tag=1)
  call tutti_group_recv(group, bar(cells + 1), right, tag=2)
  call tutti_group_send(group, bar(cells), right, tag=1)
  call tutti_group_send(group, bar(1), left, tag=2)
  call tutti_group_init(group, exchange)
  call tutti_group_free(group)
  do step = 1, 200
    call tutti_start(exchange)
    call tutti_wait(exchange)
    next = bar(1:cells) + 0.25d0*(bar(0:cells - 1) - 2*bar(1:cells) + bar(2:cells + 1))
    bar(1:cells) = next
  end do
  heat = sum(bar(1:cells))
  call tutti_allreduce(comm, heat, tutti_sum)
  if (rank == 0) print '(2(a, f0.3))', "heat at the start ", start, ", at the end ", heat
  if (abs(heat(1) - start(1)) > 1d-9*start(1)) error stop "heat was lost"

  call tutti_request_free(exchange)
  call tutti_comm_free(comm)
  call MPI_Finalize()
end program halo
