! SPDX-License-Identifier: BSD-3-Clause
module check
  use, intrinsic :: iso_fortran_env, only: int64, error_unit
  use tutti
  implicit none
  public

  integer, parameter :: block = 5, most = 64, iterations = 5
  integer :: failures = 0

  !> The communicator that a test runs on.
  type :: group
    type(tutti_comm) :: comm
    integer :: rank = -1, size = -1
  end type

contains

  function group_on(comm) result(g)
    type(tutti_comm), intent(in) :: comm
    type(group) :: g
    g%comm = comm
    call tutti_comm_rank(comm, g%rank)
    call tutti_comm_size(comm, g%size)
  end function group_on

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    write (error_unit, '(2a)') "not so: ", what
  end subroutine expect

  !> A call that must have failed with a code and with a message that contains a text.
  subroutine expect_failure(code, wanted, text)
    integer, intent(in) :: code, wanted
    character(len=*), intent(in) :: text
    if (code == wanted .and. index(tutti_error_message(), text) > 0) return
    failures = failures + 1
    write (error_unit, '(a, i0, a, i0, 4a)') "code ", code, ", wanted ", wanted, " and '", text, "': ", &
        tutti_error_message()
  end subroutine expect_failure

  !> What a rank holds: no two ranks, indices or iterations hold the same.
  elemental integer(int64) function held(rank, i, iteration)
    integer, intent(in) :: rank, i, iteration
    held = 100000_int64*(rank + 1) + 100*i + iteration
  end function held

  function some(rank, first, n, iteration) result(values)
    integer, intent(in) :: rank, first, n, iteration
    integer(int64) :: values(n)
    integer :: i
    values = [(held(rank, first + i, iteration), i=1, n)]
  end function some

  function sums(from, to, first, n, iteration) result(values)
    integer, intent(in) :: from, to, first, n, iteration
    integer(int64) :: values(n)
    integer :: r
    values = 0
    do r = from, to
      values = values + some(r, first, n, iteration)
    end do
  end function sums

  !> Sizes and places (from 0) of the v-forms: rank r has r + 1 elements, with a gap of one before each block.
  elemental integer function count_of(rank)
    integer, intent(in) :: rank
    count_of = rank + 1
  end function count_of
  elemental integer function place_of(rank)
    integer, intent(in) :: rank
    place_of = 1 + rank*(rank + 1)/2 + rank
  end function place_of

  subroutine go(request)
    type(tutti_request), intent(inout) :: request
    call tutti_start(request)
    call tutti_wait(request)
  end subroutine go

end module check
