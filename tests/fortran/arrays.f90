! SPDX-License-Identifier: BSD-3-Clause
!> Types, kinds, ranks and sections: what Tutti is told comes from the array.
module arrays
  use check
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, real32, real64
  implicit none
  private
  public :: test_arrays

contains

  subroutine test_arrays(g)
    type(group), intent(in) :: g
    call kinds(g)
    call kinds_with_neighbours(g)
    call logicals(g)
    call logicals_of_all_kinds(g)
    call ranks(g)
    call sections(g)
    call addresses(g)
  end subroutine test_arrays

  subroutine kinds(g)
    type(group), intent(in) :: g
    integer(int8) :: a(3)
    integer(int16) :: b(3)
    integer(int32) :: c(3)
    integer(int64) :: d(3)
    real(real32) :: e(3)
    real(real64) :: f(3)
    complex(real32) :: z(3)
    complex(real64) :: w(3)
    integer :: n
    n = g%size*(g%size + 1)/2
    a = int(g%rank + 1, int8); b = int(g%rank + 1, int16); c = g%rank + 1; d = g%rank + 1
    e = real(g%rank + 1); f = g%rank + 1; z = cmplx(g%rank + 1, -1); w = cmplx(g%rank + 1, 1, real64)
    call tutti_allreduce(g%comm, a, tutti_sum)
    call tutti_allreduce(g%comm, b, tutti_sum)
    call tutti_allreduce(g%comm, c, tutti_sum)
    call tutti_allreduce(g%comm, d, tutti_sum)
    call tutti_allreduce(g%comm, e, tutti_sum)
    call tutti_allreduce(g%comm, f, tutti_sum)
    call tutti_allreduce(g%comm, z, tutti_sum)
    call tutti_allreduce(g%comm, w, tutti_sum)
    call expect(all(a == n) .and. all(b == n) .and. all(c == n) .and. all(d == n), "integers")
    call expect(all(e == n) .and. all(f == n), "reals")
    call expect(all(z == cmplx(n, -g%size)) .and. all(w == cmplx(n, g%size, real64)), "complexes")
  end subroutine kinds

  !> Negative values, whose sums in a wider type would carry into the next element, beside elements that are not passed.
  subroutine kinds_with_neighbours(g)
    type(group), intent(in) :: g
    integer(int8) :: a(8)
    integer(int16) :: b(8)
    integer(int32) :: c(8)
    integer(int64) :: d(8)
    integer :: i
    a = [(int(-i, int8), i=1, 8)]; b = [(int(-300*i, int16), i=1, 8)]
    c = [(-70000*i, i=1, 8)]; d = [(-5000000000_int64*i, i=1, 8)]
    call tutti_allreduce(g%comm, a(2:4), tutti_sum)
    call tutti_allreduce(g%comm, b(2:4), tutti_sum)
    call tutti_allreduce(g%comm, c(2:4), tutti_sum)
    call tutti_allreduce(g%comm, d(2:4), tutti_sum)
    call expect(all(a == [(-i*times(i), i=1, 8)]), "int8 beside others")
    call expect(all(b == [(-300*i*times(i), i=1, 8)]), "int16 beside others")
    call expect(all(c == [(-70000*i*times(i), i=1, 8)]), "int32 beside others")
    call expect(all(d == [(-5000000000_int64*i*times(i), i=1, 8)]), "int64 beside others")
  contains
    pure integer function times(i)
      integer, intent(in) :: i
      times = merge(g%size, 1, i >= 2 .and. i <= 4)
    end function times
  end subroutine kinds_with_neighbours

  !> Elements alternate, and only the middle ones are passed: a wider or a narrower type would mix them.
  subroutine logicals_of_all_kinds(g)
    type(group), intent(in) :: g
    logical(1) :: a(8)
    logical(2) :: b(8)
    logical(4) :: c(8)
    logical(8) :: d(8)
    logical :: before(8), after(8)
    integer :: i
    before = [(mod(i, 2) == 0 .or. (i == 5 .and. g%rank == 0), i=1, 8)]
    after = [(mod(i, 2) == 0 .or. (i == 5 .and. g%size == 1), i=1, 8)]
    a = before; b = before; c = before; d = before
    call tutti_allreduce(g%comm, a(3:6), tutti_land)
    call tutti_allreduce(g%comm, b(3:6), tutti_land)
    call tutti_allreduce(g%comm, c(3:6), tutti_land)
    call tutti_allreduce(g%comm, d(3:6), tutti_land)
    call expect(all(logical(a) .eqv. after), "logical(1)")
    call expect(all(logical(b) .eqv. after), "logical(2)")
    call expect(all(c .eqv. after), "logical(4)")
    call expect(all(logical(d) .eqv. after), "logical(8)")
  end subroutine logicals_of_all_kinds

  subroutine logicals(g)
    type(group), intent(in) :: g
    logical :: all_true(2), one_true
    logical(1) :: small
    logical(8) :: large
    all_true = [.true., g%rank == 0]
    one_true = g%rank == g%size - 1
    small = g%rank == 0
    large = .true.
    call tutti_allreduce(g%comm, all_true, tutti_land)
    call tutti_allreduce(g%comm, one_true, tutti_lor)
    call tutti_allreduce(g%comm, small, tutti_lor)
    call tutti_allreduce(g%comm, large, tutti_land)
    call expect(all_true(1) .and. (all_true(2) .eqv. g%size == 1), "logical array")
    call expect(one_true .and. logical(small) .and. logical(large), "logicals")
  end subroutine logicals

  subroutine ranks(g)
    type(group), intent(in) :: g
    real(real64) :: scalar, cube(2, 3, 4)
    real(real64), allocatable :: blocks(:, :)
    integer :: r
    scalar = g%rank
    cube = g%rank + 1
    call tutti_allreduce(g%comm, scalar, tutti_max)
    call tutti_allreduce(g%comm, cube, tutti_sum)
    call expect(scalar == g%size - 1 .and. all(cube == g%size*(g%size + 1)/2), "scalar and rank 3")
    allocate (blocks(24, g%size))
    cube = g%rank + 0.5d0
    call tutti_allgather(g%comm, cube, blocks)
    call expect(all([(all(blocks(:, r) == r - 0.5d0), r=1, g%size)]), "rank 3 into rank 2")
    call tutti_allreduce(g%comm, blocks(:, 1:0), tutti_sum)
  end subroutine ranks

  !> Sections are packed in blocking calls; what lies between their elements stays. Others refuse them.
  subroutine sections(g)
    type(group), intent(in) :: g
    real(real64), asynchronous :: table(6, 5), flat(9)
    type(tutti_request) :: request
    integer :: code
    table = g%rank + 1
    call tutti_allreduce(g%comm, table(1:6:2, 2:4), tutti_sum)
    call expect(all(table(1:6:2, 2:4) == g%size*(g%size + 1)/2), "section")
    call expect(all(table(2:6:2, :) == g%rank + 1) .and. all(table(:, 1) == g%rank + 1), "beside the section")
    table = g%rank + 1
    call tutti_allreduce(g%comm, table(6:1:-2, 1:5:2), flat, tutti_sum)
    call expect(all(flat == g%size*(g%size + 1)/2) .and. all(table == g%rank + 1), "section sent")
    call tutti_iallreduce(g%comm, table(1:6:2, :), tutti_sum, request, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "not contiguous")
    call tutti_allreduce_init(g%comm, flat(1:9:2), tutti_sum, request, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_allreduce_init: argument inout")
    call tutti_iallreduce(g%comm, table(:, 2:3), tutti_sum, request)
    call tutti_wait(request)
    call expect(all(table(:, 2:3) == g%size*(g%size + 1)/2), "contiguous section, nonblocking")
  end subroutine sections

  !> By address, with a count of either kind and a datatype; also of derived types and pairs.
  subroutine addresses(g)
    type(group), intent(in) :: g
    type, bind(C) :: pair
      integer(c_int32_t) :: value, index
    end type
    type(pair), target :: p
    real(real32), target :: x(4), y(4)
    type(tutti_request) :: request
    p = pair(7 - g%rank, g%rank + 20)
    call tutti_allreduce(g%comm, c_loc(tutti_in_place), c_loc(p), 1, tutti_int32_int32, tutti_minloc)
    call expect(p%value == 8 - g%size .and. p%index == g%size + 19, "minloc by address")
    x = real(g%rank)
    call tutti_allreduce(g%comm, c_loc(x), c_loc(y), 4_int64, tutti_float32, tutti_sum)
    call expect(all(y == real(g%size*(g%size - 1)/2)), "int64 count")
    p = pair(g%rank, 5)
    call tutti_ibcast(g%comm, c_loc(p), 1, tutti_datatype_bytes(8), 0, request)
    call tutti_wait(request)
    call expect(p%value == 0, "bytes")
  end subroutine addresses

end module arrays
