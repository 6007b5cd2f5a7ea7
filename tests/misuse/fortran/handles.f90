! SPDX-License-Identifier: BSD-3-Clause
!> Handles that are null, or freed before.
module misused_handles
  use misuse
  implicit none
  private
  public :: try_handles

  character(len=*), parameter :: set_copies = "set every copy of a handle to NULL when you free it"

contains

  subroutine try_handles()
    call communicators()
    call requests()
    call others()
  end subroutine try_handles

  subroutine communicators()
    type(tutti_comm) :: none, own, copy
    real :: x(4)
    integer :: code
    x = 1
    call tutti_allreduce(none, x, op=tutti_sum, ierror=code)
    call refused("NullCommunicator", code, tutti_error_invalid_communicator, "argument comm", "create it with")
    call tutti_comm_duplicate(MPI_COMM_NULL, own, ierror=code)
    call refused("NoMpiCommunicator", code, tutti_error_invalid_communicator, "argument comm", "pass a communicator that")
    call tutti_comm_duplicate(MPI_COMM_SELF, own)
    copy = own
    call tutti_comm_free(own)
    call tutti_allreduce(copy, x, op=tutti_sum, ierror=code)
    call refused("FreedCommunicator", code, tutti_error_invalid_communicator, "argument comm", set_copies)
    call tutti_comm_free(copy, code)
    call refused("CommunicatorFreedTwice", code, tutti_error_invalid_communicator, "argument comm", set_copies)
    call tutti_comm_split(world, -4, 0, own, code)
    call refused("NegativeColor", code, tutti_error_invalid_argument, "argument color", "pass a non-negative number")
  end subroutine communicators

  subroutine requests()
    type(tutti_request) :: request, copy, none
    integer :: code
    call tutti_ibarrier(world, request)
    copy = request
    call tutti_wait(request)
    call tutti_wait(copy, ierror=code)
    call refused("WaitForACompletedRequest", code, tutti_error_invalid_request, "argument request", set_copies)
    call tutti_start(none, code)
    call refused("StartOfNull", code, tutti_error_invalid_request, "argument request", "pass a request made by")
    call tutti_barrier_init(world, request)
    copy = request
    call tutti_request_free(request)
    call tutti_start(copy, code)
    call refused("StartOfAFreedRequest", code, tutti_error_invalid_request, "argument request", set_copies)
    call tutti_request_free(copy, code)
    call refused("RequestFreedTwice", code, tutti_error_invalid_request, "argument request", set_copies)
  end subroutine requests

  subroutine others()
    type(tutti_group) :: messages, copied_group
    type(tutti_datatype) :: type, copied_type
    type(tutti_op) :: op, copied_op
    real, target :: x(4)
    integer :: code
    x = 1
    call tutti_group_run(messages, code)
    call refused("NullGroup", code, tutti_error_invalid_argument, "argument group", "create it with tutti_group_create")
    call tutti_group_create(world, messages)
    copied_group = messages
    call tutti_group_free(messages)
    call tutti_group_run(copied_group, code)
    call refused("FreedGroup", code, tutti_error_invalid_argument, "argument group", set_copies)
    call tutti_datatype_vector(2, 1, 2, tutti_float32, type)
    copied_type = type
    call tutti_datatype_free(type)
    call tutti_send(world, c_loc(x), 1, copied_type, rank, 0, ierror=code)
    call refused("FreedDatatype", code, tutti_error_invalid_datatype, "argument datatype", "pass one that")
    call tutti_datatype_free(copied_type, code)
    call refused("DatatypeFreedTwice", code, tutti_error_invalid_datatype, "argument datatype", "free each")
    call tutti_op_premul_sum(2.0_c_double, op)
    copied_op = op
    call tutti_op_free(op)
    call tutti_allreduce(world, x, op=copied_op, ierror=code)
    call refused("FreedOperation", code, tutti_error_invalid_op, "argument op", "pass a constant of")
    call tutti_op_free(copied_op, code)
    call refused("OperationFreedTwice", code, tutti_error_invalid_op, "argument op", "free each operation once")
  end subroutine others

end module misused_handles
