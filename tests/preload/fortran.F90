! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program that calls MPI only, by the module mpi, with PRELOAD_F08 by mpi_f08, or with PRELOAD_MPIF by mpif.h.
program preload_fortran
#ifdef PRELOAD_F08
  use mpi_f08
  implicit none
  type(MPI_Request) :: request
  type(MPI_Comm) :: ring
#else
#ifdef PRELOAD_MPIF
  implicit none
  include 'mpif.h'
#else
  use mpi
  implicit none
#endif
  integer :: request, ring
#endif
  integer, parameter :: n = 1000
  integer :: rank, ranks, ierr, i
  double precision :: part(n), total(n), seen(n)
  integer, asynchronous :: word, pair(2), best(2)
  integer :: below, above
  logical :: mine, all_of_us, is_right

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  if (command_argument_count() > 0) call make_mistake(rank)  ! for TUTTI_CHECK
  is_right = .true.

  do i = 1, n
    part(i) = dble(rank + 1) * i
  end do
  call MPI_Allreduce(part, total, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  do i = 1, n
    is_right = is_right .and. total(i) == dble(ranks * (ranks + 1) / 2) * i
  end do

  seen = part
  call MPI_Allreduce(MPI_IN_PLACE, seen, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  is_right = is_right .and. all(seen == part / dble(rank + 1) * dble(ranks))

  word = merge(17, 0, rank == ranks - 1)
  call MPI_Bcast(word, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierr)
  is_right = is_right .and. word == 17

  mine = rank /= 0
  call MPI_Allreduce(mine, all_of_us, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  is_right = is_right .and. .not. all_of_us

  pair = [mod(rank + 1, ranks), rank]
  call MPI_Iallreduce(pair, best, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  is_right = is_right .and. best(1) == ranks - 1 .and. best(2) == max(ranks - 2, 0)

  call MPI_Barrier(MPI_COMM_WORLD, ierr)

#ifdef PRELOAD_PERSISTENT
  call MPI_Bcast_init(word, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
  do i = 1, 3
    word = merge(i, 0, rank == 0)
    call MPI_Start(request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    is_right = is_right .and. word == i
  end do
  call MPI_Request_free(request, ierr)
#endif

  below = mod(rank + ranks - 1, ranks)
  above = mod(rank + 1, ranks)
  word = -1
  call MPI_Irecv(word, 1, MPI_INTEGER, below, 5, MPI_COMM_WORLD, request, ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, above, 5, MPI_COMM_WORLD, ierr)
  mine = .false.
  do while (.not. mine)
    call MPI_Request_get_status(request, mine, MPI_STATUS_IGNORE, ierr)
  end do
  is_right = is_right .and. word == below
  word = ranks
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  is_right = is_right .and. word == ranks

  word = -1
  call MPI_Irecv(word, 1, MPI_INTEGER, below, 6, MPI_COMM_WORLD, request, ierr)
  call MPI_Request_free(request, ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, above, 6, MPI_COMM_WORLD, ierr)
  do i = 1, 2
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  is_right = is_right .and. word == below

  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, ierr)
  call MPI_Cart_shift(ring, 0, 1, below, above, ierr)
  pair = [10 * rank + 1, 10 * rank + 2]
  call MPI_Neighbor_alltoall(pair, 1, MPI_INTEGER, best, 1, MPI_INTEGER, ring, ierr)
  is_right = is_right .and. best(1) == 10 * below + 2 .and. best(2) == 10 * above + 1
  call MPI_Comm_free(ring, ierr)

  if (is_right) print '(a,i0,a)', 'rank ', rank, ' has seen the right results'
  call MPI_Finalize(ierr)
  if (.not. is_right) error stop 1
contains

  ! Another communicator than MPI_COMM_WORLD, and a root that ranks disagree about.
  subroutine make_mistake(root)
    integer, intent(in) :: root
    integer, asynchronous :: value
#ifdef PRELOAD_F08
    type(MPI_Comm) :: copy
#else
    integer :: copy
#endif
    value = root
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Bcast(value, 1, MPI_INTEGER, root, copy, ierr)
  end subroutine make_mistake

end program preload_fortran
