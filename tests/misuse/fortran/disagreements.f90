! SPDX-License-Identifier: BSD-3-Clause
!> Ranks that disagree, over shared memory: the last one makes another call.
module disagreements
  use misuse
  implicit none
  private
  public :: try_disagreements

contains

  subroutine try_disagreements()
    call disagree("OperationsDiffer", "bcast(")
    call disagree("TypesDiffer", "(int32, count 4, sum")
    call disagree("WidthsDiffer", "(float64, count 4, sum")
    call disagree("OpsDiffer", ", max)")
    call disagree("RootsDiffer", "root 1")
    call disagree("CountsDiffer", "(float32, count 8")
  end subroutine try_disagreements

  subroutine disagree(row, word)
    character(len=*), intent(in) :: row, word
    type(tutti_comm) :: own
    integer :: code, i
    call tutti_comm_duplicate(MPI_COMM_WORLD, own)
    code = tutti_success
    if (row == "RootsDiffer") then
      call make_rooted(own, merge(1, 0, rank == ranks - 1), code)
    else if (rank < ranks - 1) then
      call make_usual(own, 4, tutti_sum, code)
    else
      call make_other(own, row, code)
    end if
    do i = 1, 3
      if (code == tutti_success) call tutti_barrier(own, ierror=code)
    end do
    call refused(row, code, tutti_error_mismatch, word, "let all ranks make the same calls in the same order")
    call tutti_comm_free(own)
  end subroutine disagree

  subroutine make_usual(comm, count, op, code)
    type(tutti_comm), intent(in) :: comm
    integer, intent(in) :: count
    type(tutti_op), intent(in) :: op
    integer, intent(out) :: code
    real :: x(count)
    x = 1
    call tutti_allreduce(comm, x, op=op, options=shared(), ierror=code)
  end subroutine make_usual

  subroutine make_rooted(comm, root, code)
    type(tutti_comm), intent(in) :: comm
    integer, intent(in) :: root
    integer, intent(out) :: code
    real :: x(4)
    x = 1
    call tutti_bcast(comm, x, root, options=shared(), ierror=code)
  end subroutine make_rooted

  subroutine make_other(comm, row, code)
    type(tutti_comm), intent(in) :: comm
    character(len=*), intent(in) :: row
    integer, intent(out) :: code
    integer :: i(4)
    double precision :: d(4)
    i = 1
    d = 1
    select case (row)
    case ("OperationsDiffer")
      call make_rooted(comm, 0, code)
    case ("TypesDiffer")
      call tutti_allreduce(comm, i, op=tutti_sum, options=shared(), ierror=code)
    case ("WidthsDiffer")
      call tutti_allreduce(comm, d, op=tutti_sum, options=shared(), ierror=code)
    case ("OpsDiffer")
      call make_usual(comm, 4, tutti_max, code)
    case default
      call make_usual(comm, 8, tutti_sum, code)
    end select
  end subroutine make_other

  function shared() result(options)
    type(tutti_options) :: options
    options%algorithm = "shm"
  end function shared

end module disagreements
