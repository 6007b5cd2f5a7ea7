! SPDX-License-Identifier: BSD-3-Clause
! The diagnostics of an ocean model on a sphere, at each time step: mean temperature, heat, kinetic energy and the
! warmest cell, of a grid that is cut into blocks. The bits are those of one rank that has the whole grid.
program ocean
  use mpi_f08
  use tutti
  use tutti_reprosum
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: columns = 96, rows = 48, steps = 3
  real(real64), parameter :: pi = acos(-1d0)
  type(tutti_comm) :: alone
  real(real64) :: ours(5), whole(5)
  integer :: rank, ranks, across, step

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  across = maxval([(merge(step, 1, modulo(ranks, step) == 0), step=1, int(sqrt(real(ranks))))])
  call tutti_comm_duplicate(MPI_COMM_SELF, alone)
  do step = 1, steps
    ours = diagnostics(step, modulo(rank, across), across, rank/across, ranks/across)
    whole = diagnostics(step, 0, 1, 0, 1, alone)
    if (rank == 0) print '(a, i0, 5(1x, z16.16))', "step ", step, ours
    if (any(transfer(ours, [0_int64]) /= transfer(whole, [0_int64]))) error stop "the decomposition shows"
  end do
  call tutti_comm_free(alone)
  call tutti_reprosum_final()
  call MPI_Finalize()

contains

  !> What the block (i, j) of `across` times `down` blocks contributes, summed over the ranks of `comm`, or over all.
  function diagnostics(step, i, across, j, down, comm) result(found)
    integer, intent(in) :: step, i, across, j, down
    type(tutti_comm), intent(in), optional :: comm
    real(real64) :: found(5)
    real(real64), dimension(columns*i/across + 1:columns*(i + 1)/across, rows*j/down + 1:rows*(j + 1)/down) :: &
        temperature, u, v, area
    real(real64) :: fields(size(area), 2)
    logical :: is_sea(size(area, 1), size(area, 2))
    integer :: x, y
    do y = lbound(area, 2), ubound(area, 2)
      do x = lbound(area, 1), ubound(area, 1)
        area(x, y) = cos(pi*(y - (rows + 1)/2d0)/rows)
        temperature(x, y) = 28*area(x, y) + sin(0.37d0*x*step) - 0.01d0*y
        u(x, y) = sin(0.11d0*x + step)*area(x, y)
        v(x, y) = cos(0.23d0*y*x)
        is_sea(x - lbound(area, 1) + 1, y - lbound(area, 2) + 1) = modulo(x*y, 7) > 1
      end do
    end do
    fields(:, 1) = reshape(u, [size(u)])
    fields(:, 2) = reshape(v, [size(v)])
    found(1) = tutti_global_mean(temperature, area, is_sea, comm)
    found(2) = tutti_global_sum_prod(temperature, area, is_sea, comm)
    call tutti_global_sums(fields, found(3:4), reshape(area, [size(area)]), reshape(is_sea, [size(area)]), comm)
    found(5) = tutti_global_sum(u*u + v*v, area, comm=comm)
  end function diagnostics
end program ocean
