! SPDX-License-Identifier: BSD-3-Clause
!> Wrong uses, one a row: each ends within 10 seconds, on every rank, with a text that names the argument, the rank and a
!> remedy, and leaves the communicator usable if ranks did not disagree.
module misuse
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use tutti
  implicit none
  public

  integer :: failures = 0, rank = 0, ranks = 0
  type(tutti_comm) :: world

  interface
    !> A hang ends the program.
    integer(c_int) function alarm(seconds) bind(C, name="alarm")
      import
      integer(c_int), value :: seconds
    end function alarm
  end interface

contains

  subroutine fail(row, problem)
    character(len=*), intent(in) :: row, problem
    failures = failures + 1
    write (error_unit, '(5a)') row, ": ", problem, ": ", tutti_error_message()
  end subroutine fail

  !> Whether the text names this rank: "rank 1 " or "rank 1:", but not "rank 12".
  logical function names_rank(text)
    character(len=*), intent(in) :: text
    character(len=16) :: number
    write (number, '(i0)') rank
    names_rank = index(text, "rank "//trim(number)//" ") > 0 .or. index(text, "rank "//trim(number)//":") > 0
  end function names_rank

  !> Whether a sentence of the text begins with the remedy, and that with a verb.
  logical function has_remedy(text, remedy)
    character(len=*), intent(in) :: text, remedy
    character(len=10), parameter :: verbs(12) = [character(len=10) :: "allocate", "choose", "correct", "create", "free", &
        "give", "let", "make", "pass", "set", "start", "use"]
    integer :: at
    at = index(text, remedy)
    has_remedy = any(verbs == remedy(:index(remedy//" ", " ") - 1)) .and. at > 2
    if (has_remedy) has_remedy = scan(text(at - 2:at - 2), ";,") > 0
  end function has_remedy

  !> The end of a row. A call that was wrong gave `code`.
  subroutine refused(row, code, wanted, argument, remedy)
    character(len=*), intent(in) :: row, argument, remedy
    integer, intent(in) :: code, wanted
    character(len=:), allocatable :: text
    integer :: x, ignored
    text = tutti_error_message()
    if (code /= wanted) call fail(row, "another code")
    if (index(text, argument) == 0) call fail(row, "the argument is not named")
    if (.not. names_rank(text)) call fail(row, "the rank is not named")
    if (.not. has_remedy(text, remedy)) call fail(row, "no remedy")
    if (wanted /= tutti_error_mismatch) then
      x = 1
      call tutti_allreduce(world, x, op=tutti_sum)
      if (x /= ranks) call fail(row, "the communicator is not what it was")
    end if
    ignored = alarm(10)
  end subroutine refused

end module misuse
