! SPDX-License-Identifier: BSD-3-Clause
! The faces of a box in three dimensions go to the neighbours, without packing by hand: by Tutti's neighbor_alltoallw
! with layouts, called each time or bound once, and by MPI's with subarray types. Compares the times, and each ghost cell with its exact value: some MPIs
! mix up directions in which there are one or two ranks. (The module mpi, because that call of mpi_f08 fails on grids
! in MPICH 4.0.2.)
!   mpiexec -n 2 halo_3d [cells per side of a rank's box] [exchanges to measure] [open: the box has borders]
program halo_3d
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi
  use tutti
  implicit none
  integer, parameter :: wide = selected_real_kind(15), each_time = 1, once_bound = 2, mpi_way = 3
  real(wide), allocatable, asynchronous :: u(:, :, :)             ! with one layer of neighbours' cells: 0 and n + 1
  real(wide), allocatable :: times(:, :)
  real(wide) :: started, medians(3)
  type(tutti_comm) :: comm
  type(tutti_datatype) :: faces(6), ghosts(6)
  type(tutti_request) :: halo
  integer, parameter :: once(6) = 1
  integer(MPI_ADDRESS_KIND), parameter :: at_start(6) = 0
  integer :: parts(3) = 0, place(3), n = 32, exchanges = 2000, wrong(3) = 0, ranks, rank, i, way, code
  integer :: grid, inner(6), outer(6)                             ! a communicator and datatypes of MPI
  logical :: periodic(3) = .true.
  character(len=20) :: word

  call MPI_Init(code)
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) n
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, word)
    read (word, *) exchanges
  end if
  if (command_argument_count() > 2) periodic = .false.
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call MPI_Dims_create(ranks, 3, parts, code)
  call MPI_Cart_create(MPI_COMM_WORLD, 3, parts, periodic, .false., grid, code)
  call MPI_Comm_rank(grid, rank, code)
  call MPI_Cart_coords(grid, rank, 3, place, code)
  call tutti_comm_borrow(grid, comm)                              ! its neighbours are those of the grid
  allocate (u(0:n + 1, 0:n + 1, 0:n + 1), times(exchanges, 3))
  call make_types()
  call tutti_neighbor_alltoallw_init(comm, u, once, at_start, faces, u, once, at_start, ghosts, halo)

  do i = 1, exchanges
    do way = each_time, mpi_way
      call fill(i)
      call MPI_Barrier(grid, code)
      started = MPI_Wtime()
      select case (way)
      case (each_time)
        call tutti_neighbor_alltoallw(comm, u, once, at_start, faces, u, once, at_start, ghosts)
      case (once_bound)
        call tutti_start(halo)
        call tutti_wait(halo)
      case (mpi_way)
        call MPI_Neighbor_alltoallw(u, once, at_start, inner, u, once, at_start, outer, grid, code)
      end select
      times(i, way) = MPI_Wtime() - started
      wrong(way) = wrong(way) + wrong_cells(i)
    end do
  end do
  call tutti_allreduce(comm, times, tutti_max)                    ! of the slowest rank
  call tutti_allreduce(comm, wrong, tutti_sum)
  medians = [(median(times(:, way)), way=1, 3)]
  if (rank == 0) print '(i0, a, 5(f0.2, a))', 8*n*n, " bytes a face, us: tutti_neighbor_alltoallw ", &
      1e6*medians(each_time), ", bound once ", 1e6*medians(once_bound), ", MPI_Neighbor_alltoallw ", &
      1e6*medians(mpi_way), "; ratios ", medians(mpi_way)/medians(each_time), " and ", &
      medians(mpi_way)/medians(once_bound), ""
  if (rank == 0 .and. wrong(mpi_way) > 0) print '(a)', "this MPI has put ghost cells to the wrong side"
  if (any(wrong(:once_bound) > 0)) error stop "ghost cells are wrong"

  do i = 1, 6
    call tutti_datatype_free(faces(i))
    call tutti_datatype_free(ghosts(i))
    call MPI_Type_free(inner(i), code)
    call MPI_Type_free(outer(i), code)
  end do
  call tutti_request_free(halo)
  call tutti_comm_free(comm)
  call MPI_Comm_free(grid, code)
  call MPI_Finalize(code)

contains

  !> Makes the types of the outermost own cells and of the ghost cells beyond them, in the order of the neighbours:
  !> below and above in each dimension.
  subroutine make_types()
    integer :: d, side, i, sizes(3), own(3), first(3), beyond(3)
    sizes = n + 2
    do d = 1, 3
      do side = 0, 1
        i = 2*d - 1 + side
        own = n
        own(d) = 1
        first = 1
        beyond = 1
        first(d) = merge(1, n, side == 0)
        beyond(d) = merge(0, n + 1, side == 0)
        call tutti_datatype_subarray(sizes, own, first, tutti_float64, faces(i))
        call tutti_datatype_subarray(sizes, own, beyond, tutti_float64, ghosts(i))
        call MPI_Type_create_subarray(3, sizes, own, first, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, inner(i), code)
        call MPI_Type_create_subarray(3, sizes, own, beyond, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, outer(i), code)
        call MPI_Type_commit(inner(i), code)
        call MPI_Type_commit(outer(i), code)
      end do
    end do
  end subroutine make_types

  !> The number of a cell of the whole box, made another one by each exchange.
  elemental integer(int64) function number(i, j, k, exchange)
    integer, intent(in) :: i, j, k, exchange
    integer :: cell(3)
    cell = modulo(place*n + [i, j, k] - 1, parts*n)
    number = ((cell(3)*int(parts(2)*n, int64) + cell(2))*(parts(1)*n) + cell(1))*4 + modulo(exchange, 4)
  end function number

  subroutine fill(exchange)
    integer, intent(in) :: exchange
    integer :: i, j, k
    u = -1
    do concurrent(i=1:n, j=1:n, k=1:n, any([i, j, k] == 1) .or. any([i, j, k] == n))
      u(i, j, k) = real(number(i, j, k, exchange), wide)
    end do
  end subroutine fill

  integer function wrong_cells(exchange)
    integer, intent(in) :: exchange
    integer :: j, k
    wrong_cells = 0
    do k = 1, n
      do j = 1, n
        wrong_cells = wrong_cells + count(is_wrong([0, n + 1, j, j, j, j], [j, j, 0, n + 1, k, k], &
            [k, k, k, k, 0, n + 1], [1, 1, 2, 2, 3, 3], [-1, 1, -1, 1, -1, 1], exchange))
      end do
    end do
  end function wrong_cells

  !> Whether a ghost cell has not its neighbour's value, or, beyond a border, not the one it had.
  elemental logical function is_wrong(i, j, k, dimension, direction, exchange)
    integer, intent(in) :: i, j, k, dimension, direction, exchange
    logical :: exists
    exists = periodic(dimension) .or. (place(dimension) + direction >= 0 .and. &
        place(dimension) + direction < parts(dimension))
    is_wrong = nint(u(i, j, k), int64) /= merge(number(i, j, k, exchange), -1_int64, exists)
  end function is_wrong

  real(wide) function median(values)
    real(wide), intent(in) :: values(:)
    real(wide) :: low, high
    integer :: step
    low = minval(values)
    high = maxval(values)
    do step = 1, 60
      median = (low + high)/2
      if (count(values <= median) > size(values)/2) then
        high = median
      else
        low = median
      end if
    end do
  end function median

end program halo_3d
