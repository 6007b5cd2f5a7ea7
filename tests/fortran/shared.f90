! SPDX-License-Identifier: BSD-3-Clause
!> Memory from the library: as an array by a pointer, and as an address.
module shared
  use check
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  implicit none
  private
  public :: test_memory

contains

  subroutine test_memory(g)
    type(group), intent(in) :: g
    call arrays_of_all_ranks(g)
    call kinds(g)
    call addresses(g)
    call refused(g)
  end subroutine test_memory

  subroutine arrays_of_all_ranks(g)
    type(group), intent(in) :: g
    real(real64), pointer, contiguous :: x(:), m(:, :)
    integer(int64), pointer, contiguous :: cube(:, :, :)
    integer, parameter :: n = 60000
    integer :: i
    call tutti_allocate(g%comm, x, [n + 8*g%rank])
    call tutti_allocate(g%comm, m, [300, 200])
    call tutti_allocate(g%comm, cube, [4_int64, 5_int64, 6_int64])
    call expect(size(x) == n + 8*g%rank .and. all(x == 0), "a vector of zeros")
    call expect(all(shape(m) == [300, 200]) .and. all(m == 0), "a matrix of zeros")
    call expect(all(shape(cube) == [4, 5, 6]) .and. is_contiguous(cube), "a cube")
    call expect(lbound(m, 2) == 1, "bounds from 1")
    x = [(real(modulo(i, 1000)*(g%rank + 1), real64), i=1, size(x))]
    call tutti_allreduce(g%comm, x(:n), tutti_sum)
    call expect(all(x(:n) == [(real(modulo(i, 1000)*g%size*(g%size + 1)/2, real64), i=1, n)]), "sums in place")
    m = g%rank
    call tutti_bcast(g%comm, m, g%size - 1)
    call expect(all(m == g%size - 1), "a broadcast matrix")
    cube = g%rank + 1
    call tutti_allreduce(g%comm, cube, tutti_sum)
    call expect(all(cube == g%size*(g%size + 1)/2), "a cube of sums")
    call tutti_deallocate(x)
    call tutti_deallocate(m)
    call tutti_deallocate(cube)
    call expect(.not. associated(x) .and. .not. associated(m) .and. .not. associated(cube), "null afterwards")
    call tutti_deallocate(x)
  end subroutine arrays_of_all_ranks

  subroutine kinds(g)
    type(group), intent(in) :: g
    integer(int32), pointer, contiguous :: a(:)
    real(real32), pointer, contiguous :: b(:)
    complex(real32), pointer, contiguous :: c(:)
    complex(real64), pointer, contiguous :: d(:, :)
    call tutti_allocate(g%comm, a, [g%rank])
    call tutti_allocate(g%comm, b, [7])
    call tutti_allocate(g%comm, c, [7])
    call tutti_allocate(g%comm, d, [7, 2])
    call expect(size(a) == g%rank .and. size(d) == 14, "sizes")
    b = 1.5; c = (1.0, 2.0); d = (3.0, 4.0)
    call expect(all(b == 1.5) .and. all(c == (1.0, 2.0)) .and. all(d == (3.0, 4.0)), "kinds do not overlap")
    call tutti_deallocate(a)
    call tutti_deallocate(b)
    call tutti_deallocate(c)
    call tutti_deallocate(d)
  end subroutine kinds

  subroutine addresses(g)
    type(group), intent(in) :: g
    type(c_ptr) :: data
    integer(int64), pointer :: x(:)
    call tutti_allocate(g%comm, 80, data)
    call c_f_pointer(data, x, [10])
    x = g%rank
    call tutti_bcast(g%comm, data, 10, tutti_int64, 0)
    call expect(all(x == 0), "a broadcast by address")
    call tutti_deallocate(data)
    call expect(.not. c_associated(data), "a null address afterwards")
    call tutti_allocate(g%comm, 8_int64, data, memory=tutti_memory_host)
    call tutti_deallocate(data)
  end subroutine addresses

  subroutine refused(g)
    type(group), intent(in) :: g
    real(real64), pointer, contiguous :: x(:)
    real(real64), target :: other(3)
    type(c_ptr) :: data
    integer :: code
    call tutti_allocate(g%comm, x, [merge(-1, 3, g%rank == 0)], ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument bytes")
    call expect(.not. associated(x), "nothing allocated")
    data = c_loc(other)
    call tutti_deallocate(data, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument data")
    call expect(c_associated(data), "the address is kept")
  end subroutine refused

end module shared
