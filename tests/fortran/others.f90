! SPDX-License-Identifier: BSD-3-Clause
!> Operations, options, communicators and errors.
module others
  use check
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32
  use mpi_f08, only: MPI_Comm, MPI_Comm_compare, MPI_Comm_dup, MPI_IDENT, MPI_CONGRUENT, MPI_UNDEFINED
  implicit none
  private
  public :: test_operations, test_options, test_communicators, test_errors

contains

  !> The left of two: associative, not commutative.
  subroutine first(in, inout, count, datatype, context) bind(C)
    type(c_ptr), value :: in, inout, context
    integer(c_size_t), value :: count
    integer(c_int64_t), value :: datatype
    integer(int64), pointer :: a(:), b(:)
    integer(c_int), pointer :: calls
    call c_f_pointer(in, a, [count])
    call c_f_pointer(inout, b, [count])
    b = a
    call c_f_pointer(context, calls)
    if (datatype == tutti_int64%handle) calls = calls + 1
  end subroutine first

  subroutine test_operations(g)
    type(group), intent(in) :: g
    integer(int64) :: x(3)
    real(c_double) :: y
    integer(c_int), target :: calls
    type(tutti_op) :: op
    integer :: code
    calls = 0
    x = some(g%rank, 0, 3, 1)
    call tutti_op_user(c_funloc(first), c_loc(calls), .false., op)
    call tutti_allreduce(g%comm, x, op)
    call expect(all(x == some(0, 0, 3, 1)) .and. (calls > 0 .or. g%size == 1), "user operation")
    call expect(tutti_op_name(op) == "user" .and. op /= tutti_sum .and. tutti_sum == tutti_sum, "op names")
    call tutti_op_free(op)
    call tutti_op_premul_sum(0.5d0, op)
    y = 2
    call tutti_allreduce(g%comm, y, op)
    call expect(y == g%size, "premul_sum")
    call tutti_op_free(op)
    call tutti_allreduce(g%comm, y, tutti_band, ierror=code)
    call expect_failure(code, tutti_error_invalid_op, "band")
  end subroutine test_operations

  subroutine test_options(g)
    type(group), intent(in) :: g
    type(tutti_options) :: options
    integer(int64) :: x
    integer :: code
    options%timeout = 60
    options%reproducible = .true.
    x = held(g%rank, 1, 1)
    call tutti_allreduce(g%comm, x, tutti_sum, options)
    call expect(x == sum(sums(0, g%size - 1, 0, 1, 1)), "options")
    options%algorithm = "no such"
    call tutti_allreduce(g%comm, x, tutti_sum, options, code)
    call expect_failure(code, tutti_error_invalid_algorithm, "no such")
    options%algorithm = ""
    options%timeout = -1
    call tutti_allreduce(g%comm, x, tutti_sum, options, code)
    call expect_failure(code, tutti_error_invalid_argument, "timeout")
  end subroutine test_options

  !> Handles come in integers of 4 and 8 bytes, whichever the program's or MPI's are.
  subroutine expect_handles(of, small)
    type(tutti_comm), intent(in) :: of
    integer(int32), intent(in) :: small
    type(tutti_comm) :: comm
    integer(int32) :: small_handle
    integer(int64) :: large_handle
    integer :: size, of_size
    call tutti_comm_size(of, of_size)
    call tutti_comm_mpi_handle(of, small_handle)
    call tutti_comm_mpi_handle(of, large_handle)
    call expect(small_handle == large_handle, "handles of both sizes")
    call tutti_comm_borrow(int(small, int64), comm)
    call tutti_comm_size(comm, size)
    call expect(size == of_size, "borrowed by 8 bytes")
    call tutti_comm_free(comm)
    call tutti_comm_borrow(small, comm)
    call tutti_comm_mpi_handle(comm, small_handle)
    call expect(small_handle == small, "borrowed by 4 bytes")
    call tutti_comm_free(comm)
  end subroutine expect_handles

  subroutine test_communicators(g)
    type(group), intent(in) :: g
    type(MPI_Comm) :: mpi, own, handle
    type(tutti_comm) :: comm, part
    type(tutti_comm_options) :: options
    integer :: number, code
    integer(kind(MPI_IDENT)) :: outcome
    real :: x
    character(len=:), allocatable :: names
    call tutti_comm_mpi_handle(g%comm, mpi)
    call tutti_comm_mpi_handle(g%comm, number)
    call expect(number == mpi%MPI_VAL, "integer handle")
    call tutti_comm_duplicate(number, comm)
    call expect_handles(comm, mpi%MPI_VAL)
    call tutti_comm_mpi_handle(comm, handle)
    call MPI_Comm_compare(mpi, handle, outcome)
    call expect(outcome == MPI_CONGRUENT, "duplicate")
    call tutti_comm_free(comm)
    call tutti_comm_borrow(mpi, comm)
    call tutti_comm_mpi_handle(comm, handle)
    call MPI_Comm_compare(mpi, handle, outcome)
    call expect(outcome == MPI_IDENT, "borrow")
    call tutti_comm_free(comm)
    call MPI_Comm_dup(mpi, own)
    options%name = "heat"
    call tutti_comm_adopt(own, comm, options)
    call tutti_bcast(comm, x, 99, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "heat")
    call tutti_comm_split(comm, merge(int(MPI_UNDEFINED), 0, g%rank == 0), 0, part)
    call expect(c_associated(part%handle) .eqv. g%rank > 0, "split")
    call tutti_comm_free(part)
    call tutti_comm_split_by_node(comm, part)
    x = 1
    call tutti_allreduce(part, x, tutti_sum)
    call expect(x == g%size, "split_by_node")
    call tutti_comm_free(part)
    call tutti_comm_shrink(comm, part)
    x = 1
    call tutti_allreduce(part, x, tutti_sum)
    call expect(x == g%size .and. tutti_error_peer_died == 21, "shrink")
    call tutti_comm_free(part)
    call tutti_comm_algorithms(comm, "allreduce", 8_int64, tutti_float32, names)
    call expect(len(names) > 0, "algorithms")
    call tutti_allreduce(comm, x, tutti_sum, tutti_options(algorithm=names(:index(names, new_line("a")) - 1)))
    call tutti_comm_algorithms(comm, "all", 8_int64, tutti_float32, names, tutti_max, tutti_call_persistent, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "alltoallv")
    call tutti_comm_abort(comm, "too hot")
    call tutti_barrier(comm, ierror=code)
    call expect_failure(code, tutti_error_aborted, "too hot")
    part = comm
    call tutti_comm_free(comm)
    call tutti_comm_rank(comm, number, code)
    call expect_failure(code, tutti_error_invalid_communicator, "TUTTI_COMM_NULL")
    call tutti_comm_rank(part, number, code)
    call expect_failure(code, tutti_error_invalid_communicator, "freed through another copy")
    call tutti_bcast(part, x, 0, ierror=code)
    call expect_failure(code, tutti_error_invalid_communicator, "freed through another copy")
  end subroutine test_communicators

  subroutine test_errors(g)
    type(group), intent(in) :: g
    type(tutti_comm) :: none
    type :: point
      real :: x, y
    end type
    type(point) :: place
    real :: x(3), y(4)
    integer :: i(3), few(g%size + 1), code
    x = 1; y = 1; i = 1; few = 1; place = point(1, 2)
    call tutti_allreduce(none, x, tutti_sum, ierror=code)
    call expect_failure(code, tutti_error_invalid_communicator, "comm")
    call tutti_barrier(none, ierror=code)
    call expect_failure(code, tutti_error_invalid_communicator, "comm")
    call tutti_send(none, x, 0, 0, ierror=code)
    call expect_failure(code, tutti_error_invalid_communicator, "comm")
    call tutti_allreduce(g%comm, x, y, tutti_sum, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_allreduce: argument recvbuf")
    call tutti_allreduce(g%comm, x, i, tutti_sum, ierror=code)
    call expect_failure(code, tutti_error_invalid_datatype, "another type")
    call tutti_bcast(g%comm, place, 0, ierror=code)
    call expect_failure(code, tutti_error_invalid_datatype, "c_loc")
    call tutti_bcast(g%comm, x, -1, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "root")
    call tutti_bcast(g%comm, tutti_in_place, 0, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_in_place")
    call tutti_allgatherv(g%comm, x, y, few, few, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "recv_counts")
    call tutti_allgatherv(g%comm, x, y, few(2:) - 2, few(2:), ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "negative")
    call tutti_allgatherv(g%comm, x, y, few(2:), few(2:) + 8, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "block")
    call tutti_send(g%comm, x, g%size, 0, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "dest")
    call tutti_bcast(g%comm, c_null_ptr, -4, tutti_float32, 0, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "negative")
    call expect(tutti_error_string(tutti_error_timeout) == "timed out", "error string")
    call expect(tutti_version() == "0.3.0" .and. tutti_datatype_name(tutti_bfloat16) == "bfloat16", "texts")
    call tutti_allreduce(g%comm, x, tutti_sum)
    call expect(all(x == g%size), "the communicator is as it was")
  end subroutine test_errors

end module others
