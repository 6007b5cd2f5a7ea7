! SPDX-License-Identifier: BSD-3-Clause
!> Arguments that are wrong on their own, or do not fit together.
module misused_arguments
  use misuse
  implicit none
  private
  public :: try_arguments

contains

  subroutine try_arguments()
    call numbers()
    call types_and_ops()
    call arrays()
    call absent_arrays()
    call blocks()
    call options()
  end subroutine try_arguments

  subroutine numbers()
    real :: x(4), y(4)
    integer :: code
    x = 1
    call tutti_bcast(world, x, ranks, ierror=code)
    call refused("RootBehindTheLastRank", code, tutti_error_invalid_argument, "argument root", "pass a rank from 0 to")
    call tutti_reduce(world, x, y, tutti_sum, -2, ierror=code)
    call refused("NegativeRoot", code, tutti_error_invalid_argument, "argument root", "pass a rank from 0 to")
    call tutti_bcast(world, c_null_ptr, -4, tutti_float32, 0, ierror=code)
    call refused("NegativeCount", code, tutti_error_invalid_argument, "argument count", "pass a number of elements")
    call tutti_bcast(world, c_null_ptr, 4, tutti_float32, 0, ierror=code)
    call refused("NullPointerWithElements", code, tutti_error_invalid_argument, "argument buffer", "pass the buffer's")
    call tutti_send(world, x, ranks + 7, 0, ierror=code)
    call refused("DestBehindTheLastRank", code, tutti_error_invalid_argument, "argument dest", "pass a rank from 0 to")
    call tutti_recv(world, x, -77, 0, ierror=code)
    call refused("NegativeSource", code, tutti_error_invalid_argument, "argument source", "pass a rank from 0 to")
    call tutti_send(world, x, 0, -7, ierror=code)
    call refused("NegativeTag", code, tutti_error_invalid_argument, "argument tag", "pass a number from 0 to")
    call tutti_send(world, x, 0, huge(0), ierror=code)
    call refused("TagThatMpiHasNot", code, tutti_error_invalid_argument, "argument tag", "pass a number from 0 to")
  end subroutine numbers

  subroutine types_and_ops()
    type :: point
      real :: x, y
    end type
    type(point) :: place
    type(tutti_datatype) :: no_type
    type(tutti_op) :: no_op
    real, target :: x(4)
    integer :: i(4), code
    x = 1
    i = 1
    place = point(1, 2)
    call tutti_bcast(world, place, 0, ierror=code)
    call refused("DerivedType", code, tutti_error_invalid_datatype, "argument buffer", "pass c_loc(x), a count and")
    call tutti_bcast(world, c_loc(x), 4, tutti_datatype(99), 0, ierror=code)
    call refused("UnknownDatatype", code, tutti_error_invalid_datatype, "argument datatype", "pass a constant of")
    call tutti_bcast(world, c_loc(x), 4, no_type, 0, ierror=code)
    call refused("NoDatatype", code, tutti_error_invalid_datatype, "argument datatype", "pass a constant of")
    call tutti_allreduce(world, x, op=tutti_op(99), ierror=code)
    call refused("UnknownOperation", code, tutti_error_invalid_op, "argument op", "pass a constant of")
    call tutti_allreduce(world, x, op=no_op, ierror=code)
    call refused("NoOperation", code, tutti_error_invalid_op, "argument op", "pass a constant of")
    call tutti_allreduce(world, x, op=tutti_band, ierror=code)
    call refused("BitsOfFloats", code, tutti_error_invalid_op, "argument op", "choose another operation")
    call tutti_allreduce(world, x, i, tutti_sum, ierror=code)
    call refused("TypesOfBuffersDiffer", code, tutti_error_invalid_datatype, "argument recvbuf", "pass arrays of one type")
  end subroutine types_and_ops

  subroutine arrays()
    real :: x(8), y(5)
    integer :: code
    x = 1
    call tutti_allreduce(world, x(:4), y, tutti_sum, ierror=code)
    call refused("CountsOfBuffersDiffer", code, tutti_error_invalid_argument, "argument recvbuf", "pass a section of")
    call tutti_allreduce(world, x(:4), x(:4), tutti_sum, ierror=code)
    call refused("SendIsRecv", code, tutti_error_invalid_argument, "argument recv", "pass in_place as send")
    call tutti_allreduce(world, x(:4), x(3:6), tutti_sum, ierror=code)
    call refused("BuffersShareElements", code, tutti_error_invalid_argument, "argument recv", "pass buffers that share no")
    call tutti_bcast(world, tutti_in_place, 0, ierror=code)
    call refused("BufferInPlace", code, tutti_error_invalid_argument, "argument buffer", "pass an array")
  end subroutine arrays

  subroutine absent_arrays()
    real, allocatable :: none(:)
    real, pointer :: null(:)
    real :: x(4)
    type(tutti_request), allocatable :: requests(:)
    integer(c_int64_t), allocatable :: counts(:)
    integer :: code
    nullify (null)
    x = 1
    call tutti_allreduce(world, none, op=tutti_sum, ierror=code)
    call refused("UnallocatedBuffer", code, tutti_error_invalid_argument, "argument inout", "allocate it")
    call tutti_allreduce(world, none, x, tutti_sum, ierror=code)
    call refused("UnallocatedSend", code, tutti_error_invalid_argument, "argument sendbuf", "allocate it")
    call tutti_allreduce(world, x, none, tutti_sum, ierror=code)
    call refused("UnallocatedRecv", code, tutti_error_invalid_argument, "argument recvbuf", "allocate it")
    call tutti_bcast(world, null, 0, ierror=code)
    call refused("NullPointerAsBuffer", code, tutti_error_invalid_argument, "argument buffer", "allocate it")
    call tutti_send(world, none, 0, ierror=code)
    call refused("UnallocatedMessage", code, tutti_error_invalid_argument, "argument buffer", "allocate it")
    call tutti_allgatherv(world, x, x, counts, counts, ierror=code)
    call refused("UnallocatedCounts", code, tutti_error_invalid_argument, "argument recv_counts", "allocate it")
    call tutti_waitall(requests, ierror=code)
    call refused("UnallocatedRequests", code, tutti_error_invalid_argument, "argument requests", "allocate it")
  end subroutine absent_arrays

  !> Blocks and counts that fit another number of ranks.
  subroutine blocks()
    real :: x(4), y(64)
    integer :: counts(8), places(8), r, code
    x = 1
    counts = 4
    places = [(4*r, r=0, 7)]
    call tutti_allgather(world, x, y(:4*ranks + 1), ierror=code)
    call refused("BlocksOfTooManyRanks", code, tutti_error_invalid_argument, "argument recvbuf", "pass one block of")
    call tutti_alltoall(world, y(:ranks + 1), y(33:33 + ranks), ierror=code)
    call refused("BlocksDoNotDivide", code, tutti_error_invalid_argument, "argument sendbuf", "pass one block of")
    call tutti_allgatherv(world, x, y, counts(:ranks + 1), places(:ranks + 1), ierror=code)
    call refused("CountsForTooManyRanks", code, tutti_error_invalid_argument, "argument recv_counts", "pass one for each")
    call tutti_allgatherv(world, x, y, counts(:ranks) - 5, places(:ranks), ierror=code)
    call refused("NegativeCounts", code, tutti_error_invalid_argument, "argument recv_counts", "pass numbers of elements")
    call tutti_allgatherv(world, x, y, counts(:ranks), places(:ranks) + 64, ierror=code)
    call refused("BlockBehindTheEnd", code, tutti_error_invalid_argument, "argument recvbuf", "correct its count or")
    call tutti_allgatherv(world, x(:3), y, counts(:ranks), places(:ranks), ierror=code)
    call refused("CountOfThisRankDiffers", code, tutti_error_invalid_argument, "argument send", "pass 4")
    call tutti_reduce_scatter(world, y(:4*ranks + 1), x, counts(:ranks), tutti_sum, ierror=code)
    call refused("CountsThatDoNotAddUp", code, tutti_error_invalid_argument, "argument sendbuf", "pass a section that has")
    call tutti_reduce_scatter(world, y(:4*ranks), x(:2), counts(:ranks), tutti_sum, ierror=code)
    call refused("TooShortResult", code, tutti_error_invalid_argument, "argument recvbuf", "pass a larger array")
  end subroutine blocks

  subroutine options()
    type(tutti_options) :: late, misspelt
    real :: x(4)
    integer :: code
    x = 1
    late%timeout = -1
    call tutti_allreduce(world, x, op=tutti_sum, options=late, ierror=code)
    call refused("NegativeTimeout", code, tutti_error_invalid_argument, "timeout", "pass 0 (none) to")
    misspelt%algorithm = "rnig"
    call tutti_allreduce(world, x, op=tutti_sum, options=misspelt, ierror=code)
    call refused("MisspeltAlgorithm", code, tutti_error_invalid_algorithm, "rnig", "choose one of")
  end subroutine options

end module misused_arguments
