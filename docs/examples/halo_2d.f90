! SPDX-License-Identifier: BSD-3-Clause
! Heat on a square whose opposite edges are joined, divided among the ranks in two dimensions: a group of messages,
! bound once, exchanges the edges of the blocks, allreduce finds the largest error. A wave is a solution that is known exactly.
program halo_2d
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: cells = 120, steps = 200, wide = selected_real_kind(15)
  real(wide), parameter :: rate = 0.2_wide, pi = acos(-1.0_wide)
  real(wide), allocatable, asynchronous :: u(:, :)                ! with one layer of neighbours' cells: 0 and n + 1
  real(wide), allocatable :: next(:, :)
  real(wide) :: error, decay
  type(MPI_Comm) :: grid
  type(tutti_comm) :: comm
  type(tutti_group) :: messages
  type(tutti_request) :: halo
  integer :: parts(2) = 0, place(2), first(2), n(2), ranks, rank, w, e, s, north, step, i, j

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Dims_create(ranks, 2, parts)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, parts, [.true., .true.], .false., grid)
  call MPI_Comm_rank(grid, rank)
  call MPI_Cart_coords(grid, rank, 2, place)
  call MPI_Cart_shift(grid, 0, 1, w, e)
  call MPI_Cart_shift(grid, 1, 1, s, north)
  call tutti_comm_adopt(grid, comm)                               ! frees grid with comm

  first = place*cells/parts                                       ! cells before this block, in each dimension
  n = (place + 1)*cells/parts - first
  allocate (u(0:n(1) + 1, 0:n(2) + 1), next(n(1), n(2)))
  do j = 1, n(2)
    do i = 1, n(1)
      u(i, j) = wave(first(1) + i, first(2) + j)
    end do
  end do

  call tutti_group_create(comm, messages)                         ! rows, u(1, :), are sections with a stride
  call tutti_group_recv(messages, u(0, 1:n(2)), w, tag=1)
  call tutti_group_recv(messages, u(n(1) + 1, 1:n(2)), e, tag=2)
  call tutti_group_recv(messages, u(1:n(1), 0), s, tag=3)
  call tutti_group_recv(messages, u(1:n(1), n(2) + 1), north, tag=4)
  call tutti_group_send(messages, u(n(1), 1:n(2)), e, tag=1)
  call tutti_group_send(messages, u(1, 1:n(2)), w, tag=2)
  call tutti_group_send(messages, u(1:n(1), n(2)), north, tag=3)
  call tutti_group_send(messages, u(1:n(1), 1), s, tag=4)
  call tutti_group_init(messages, halo)                           ! binds all to one request
  call tutti_group_free(messages)
  do step = 1, steps
    call tutti_start(halo)
    call tutti_wait(halo)
    next = u(1:n(1), 1:n(2)) + rate*(u(0:n(1) - 1, 1:n(2)) + u(2:n(1) + 1, 1:n(2)) + u(1:n(1), 0:n(2) - 1) &
        + u(1:n(1), 2:n(2) + 1) - 4*u(1:n(1), 1:n(2)))
    u(1:n(1), 1:n(2)) = next
  end do

  decay = (1 - 8*rate*sin(pi/cells)**2)**steps
  error = 0
  do j = 1, n(2)
    do i = 1, n(1)
      error = max(error, abs(u(i, j) - decay*wave(first(1) + i, first(2) + j)))
    end do
  end do
  call tutti_allreduce(comm, error, tutti_max)
  if (rank == 0) print '(a, es9.2)', "largest error ", error
  if (error > 1e-12_wide) error stop "the blocks do not fit together"

  call tutti_request_free(halo)
  call tutti_comm_free(comm)
  call MPI_Finalize()

contains

  real(wide) function wave(i, j)
    integer, intent(in) :: i, j
    wave = sin(2*pi*i/cells)*cos(2*pi*j/cells)
  end function wave

end program halo_2d
