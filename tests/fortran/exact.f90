! SPDX-License-Identifier: BSD-3-Clause
!> Exact sums: numbers that cancel over the rank, and small ones that would be lost to any rounding.
module exact
  use check
  use tutti_reprosum
  use, intrinsic :: iso_fortran_env, only: real32, real64
  implicit none
  private
  public :: test_exact

  integer, parameter :: n = 31

contains

  !> Column 1: what cancels, and at its end 1 + iteration. Column 2: whole numbers.
  function columns(g, iteration) result(x)
    type(group), intent(in) :: g
    integer, intent(in) :: iteration
    real(real64) :: x(n, 2)
    integer :: i
    x(:15, 1) = [(2d0**(40 + 2*i), i=1, 15)]
    x(16:30, 1) = -x(15:1:-1, 1)
    x(n, 1) = 1 + iteration
    x(:, 2) = [(g%rank + i + iteration, i=1, n)]
  end function columns

  !> The sum over all ranks of every step-th element of column 2.
  real(real64) function whole(g, iteration, step)
    type(group), intent(in) :: g
    integer, intent(in) :: iteration, step
    integer :: r, i
    whole = 0
    do r = 0, g%size - 1
      do i = 1, n, step
        whole = whole + r + i + iteration
      end do
    end do
  end function whole

  subroutine test_exact(g)
    type(group), intent(in) :: g
    call sums_in_three_forms(g)
    call weights_masks_and_sections(g)
    call dots_and_norms(g)
    call moments(g)
    call accumulators(g)
    call reprosum(g)
    call wrong_calls(g)
    call accumulation(g)
  end subroutine test_exact

  subroutine sums_in_three_forms(g)
    type(group), intent(in) :: g
    real(real64), asynchronous :: x(n, 2), found(2)
    type(tutti_request) :: request
    integer :: iteration
    do iteration = 1, iterations
      x = columns(g, iteration)
      found = -1
      select case (iteration)
      case (1)
        call tutti_exact_sum(g%comm, x, found)
      case (2)
        call tutti_iexact_sum(g%comm, x, found, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_exact_sum_init(g%comm, x, found, request)
        call tutti_start(request)
        call tutti_wait(request)
      end select
      call expect(all(found == [g%size*(1d0 + iteration), whole(g, iteration, 1)]), "exact sum")
    end do
    call tutti_request_free(request)
  end subroutine sums_in_three_forms

  subroutine weights_masks_and_sections(g)
    type(group), intent(in) :: g
    real(real64), asynchronous :: x(n, 2), found(2), weights(n), rows(2, n)
    real(real32) :: one
    logical :: mask(n)
    type(tutti_request) :: request
    x = columns(g, 7)
    weights = 0.5d0
    mask = .false.
    mask(::3) = .true.
    call tutti_exact_sum(g%comm, x, found, weights, mask)
    call expect(found(2) == whole(g, 7, 3)/2, "exact sum with weights and a mask")
    call tutti_exact_sum(g%comm, x, found, mask=mask)
    call expect(found(2) == whole(g, 7, 3), "exact sum with a mask")
    call tutti_iexact_sum(g%comm, x, found, request, weights=weights)
    call tutti_wait(request)
    call expect(found(2) == whole(g, 7, 1)/2, "exact sum with weights")
    call tutti_exact_sum(g%comm, x(::3, :), found)
    call expect(found(2) == whole(g, 7, 3), "exact sum of a section")
    rows = transpose(x)
    call tutti_exact_sum(g%comm, rows(2, :), one)
    call expect(one == real(whole(g, 7, 1), real32), "exact sum of a row, in single precision")
    call tutti_exact_sum(g%comm, x(:0, 2), found(:1))
    call expect(found(1) == 0, "exact sum of nothing")
  end subroutine weights_masks_and_sections

  subroutine dots_and_norms(g)
    type(group), intent(in) :: g
    real(real64), asynchronous :: x(n, 2), found(1), squares
    complex(real64) :: z(2), zdot
    type(tutti_request) :: request
    integer :: r, i
    x = columns(g, 2)
    squares = 0
    do r = 0, g%size - 1
      squares = squares + sum([((r + i + 2d0)**2, i=1, n)])
    end do
    call tutti_exact_dot(g%comm, x(:, 2), x(:, 2), found)
    call expect(found(1) == squares, "exact dot")
    found = 0
    call tutti_iexact_dot(g%comm, x(:, 2), x(:, 2), found, request)
    call tutti_wait(request)
    call expect(found(1) == squares, "exact dot, nonblocking")
    call tutti_exact_norm2(g%comm, x(:, 2), found)
    call expect(found(1) == sqrt(squares), "exact norm")
    call tutti_exact_norm2_init(g%comm, x(:, 2), found, request)
    found = 0
    call tutti_start(request)
    call tutti_wait(request)
    call tutti_request_free(request)
    call expect(found(1) == sqrt(squares), "exact norm, persistent")
    z = [(1d0, 2d0), (0d0, 1d0)]
    call tutti_exact_dot(g%comm, z, [(0d0, 1d0), (3d0, 0d0)], zdot)
    call expect(zdot == g%size*(2d0, -2d0), "exact dot of complex numbers")
  end subroutine dots_and_norms

  subroutine moments(g)
    type(group), intent(in) :: g
    real(real64) :: mean(1), variance(1), value
    integer(int64) :: place
    call tutti_exact_mean(g%comm, [1d0, 3d0, 5d0], mean)
    call expect(mean(1) == 3, "exact mean")
    call tutti_exact_variance(g%comm, [1d0, 3d0, 1d0, 3d0], mean, variance)
    call expect(mean(1) == 2 .and. variance(1) == 1, "exact variance")
    call tutti_exact_minloc(g%comm, [2d0, 1d0, 1d0], 3_int64*g%rank, value, place)
    call expect(value == 1 .and. place == 1, "exact minloc")
    call tutti_exact_maxloc(g%comm, [2d0, 1d0, 1d0], 3_int64*g%rank, value, place, mask=[.false., .true., .true.])
    call expect(value == 1 .and. place == 1, "exact maxloc")
  end subroutine moments

  subroutine accumulators(g)
    type(group), intent(in) :: g
    type(tutti_accumulator) :: total(2), other
    real(real64) :: x(n, 2), found
    x = columns(g, 4)
    call tutti_accumulator_clear(total(1))
    call tutti_accumulator_add(total(1), x(:10, 1))
    call tutti_accumulator_add(other, x(11:, 1))
    call tutti_accumulator_join(total(1), other)
    call tutti_accumulator_add(total(2), x(:, 2), weights=x(:, 2)*0 + 2)
    call tutti_accumulator_allreduce(g%comm, total)
    call tutti_accumulator_round(total(1), found)
    call expect(found == 5*g%size, "exact accumulator")
    call tutti_accumulator_round(total(2), found, tutti_float32)
    call expect(found == real(2*whole(g, 4, 1), real32), "exact accumulator in single precision")
  end subroutine accumulators

  !> By the names of climate codes.
  subroutine reprosum(g)
    type(group), intent(in) :: g
    real(real64) :: padded(n + 3, 2), found(2), x(n, 2)
    real(real32) :: narrow(2)
    logical :: mask(n)
    integer :: code
    x = columns(g, 6)
    padded = -1
    padded(:n, :) = x
    call tutti_reprosum_calc(padded, found, n, n + 3, 2, g%comm)
    call expect(all(found == [7d0*g%size, whole(g, 6, 1)]), "reprosum_calc")
    call tutti_reprosum_calc(real(x, real32), narrow, n, n, 2, g%comm)
    call expect(all(narrow == real(found, real32)), "reprosum_calc in single precision")
    mask = .false.
    mask(::4) = .true.
    call expect(tutti_global_sum(x(:, 2), mask=mask, comm=g%comm) == whole(g, 6, 4), "global_sum with a mask")
    call expect(tutti_global_sum(x(:, 2), 2 + 0*x(:, 2), comm=g%comm) == 2*whole(g, 6, 1), "global_sum with weights")
    call expect(tutti_global_sum_prod(x(:, 2), 3 + 0*x(:, 2), comm=g%comm) == 3*whole(g, 6, 1), "global_sum_prod")
    call tutti_global_sums(x, found, mask=mask, comm=g%comm)
    call expect(found(2) == whole(g, 6, 4), "global_sums")
    call expect(tutti_global_mean(x(:, 2), comm=g%comm) == whole(g, 6, 1)/(n*g%size), "global_mean")
    found(1) = tutti_global_sum(x, mask=x, comm=g%comm, ierror=code)
    call expect_failure(code, tutti_error_invalid_datatype, "argument mask")
  end subroutine reprosum

  subroutine wrong_calls(g)
    type(group), intent(in) :: g
    real(real64) :: x(n, 2), found(3)
    real(real64), allocatable :: nothing(:)
    integer :: code
    x = columns(g, 1)
    call tutti_exact_sum(g%comm, x, found, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "do not divide by the number of fields")
    call tutti_exact_sum(g%comm, nothing, found, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument values is not allocated")
    call tutti_exact_sum(g%comm, x, found(::2), ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument results is not contiguous")
    call tutti_exact_dot(g%comm, x, x(:, 1), found, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument y has not")
    call tutti_exact_sum(g%comm, x, found(:2), mask=x, ierror=code)
    call expect_failure(code, tutti_error_invalid_datatype, "argument mask")
    call tutti_exact_variance(g%comm, x, found, found(:2), ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "variances")
  end subroutine wrong_calls

  !> 1 of each rank between the first and the last, whose numbers cancel: lost to any rounding before the end.
  subroutine accumulation(g)
    type(group), intent(in) :: g
    type(tutti_options) :: options
    real(real64) :: x(1), total(1)
    integer :: code
    x = 1
    if (g%rank == g%size - 1) x = -2d0**60
    if (g%rank == 0) x = 2d0**60
    options%accumulation = tutti_accumulation_exact
    call tutti_allreduce(g%comm, x, total, tutti_sum, options=options)
    call expect(total(1) == merge(2d0**60, g%size - 2d0, g%size == 1), "exact accumulation")
    options%algorithm = "ring"
    if (g%size == 1) return
    call tutti_allreduce(g%comm, x, total, tutti_sum, options=options, ierror=code)
    call expect_failure(code, tutti_error_invalid_algorithm, "one rounding")
  end subroutine accumulation

end module exact
