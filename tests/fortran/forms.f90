! SPDX-License-Identifier: BSD-3-Clause
!> What a program may write: `op` by its name in every form, calls without tags, characters, logical scalars, pairs,
!> and the arrays that are refused because they do not exist.
module forms
  use check
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  implicit none
  private
  public :: test_forms

contains

  subroutine test_forms(g)
    type(group), intent(in) :: g
    call named_op(g)
    call named_op_at_root(g)
    call named_op_later(g)
    call without_tags(g)
    call characters(g)
    call logical_scalars(g)
    call pairs(g)
    call pairs_by_blocks(g)
    call pairs_refused(g)
    call user_operation(g)
    call combined(g)
    call devices(g)
    call absent_arrays(g)
  end subroutine test_forms

  subroutine named_op(g)
    type(group), intent(in) :: g
    type(tutti_options) :: options
    integer(int64) :: x(3), y(3), wanted(3)
    integer :: code
    options%timeout = 60
    wanted = sums(0, g%size - 1, 0, 3, 1)
    x = some(g%rank, 0, 3, 1)
    call tutti_allreduce(g%comm, x, y, op=tutti_sum)
    call expect(all(y == wanted), "op=, two buffers")
    call tutti_allreduce(comm=g%comm, sendbuf=x, recvbuf=y, op=tutti_max, options=options)
    call expect(all(y == some(g%size - 1, 0, 3, 1)), "op= and options=, two buffers")
    call tutti_allreduce(g%comm, x, y, op=tutti_min, ierror=code)
    call expect(code == tutti_success .and. all(y == some(0, 0, 3, 1)), "op= and ierror=, two buffers")
    call tutti_allreduce(g%comm, x, y, ierror=code, op=tutti_sum, options=options)
    call expect(all(y == wanted), "op=, options=, ierror=, two buffers")
    y = x
    call tutti_allreduce(g%comm, y, op=tutti_sum)
    call expect(all(y == wanted), "op=, in place")
    y = x
    call tutti_allreduce(g%comm, y, op=tutti_sum, options=options)
    call expect(all(y == wanted), "op= and options=, in place")
    y = x
    call tutti_allreduce(g%comm, inout=y, op=tutti_sum, ierror=code)
    call expect(code == tutti_success .and. all(y == wanted), "op= and ierror=, in place")
    y = x
    call tutti_allreduce(g%comm, y, op=tutti_sum, ierror=code, options=options)
    call expect(all(y == wanted), "op=, options=, ierror=, in place")
    call tutti_scan(g%comm, x, op=tutti_sum)
    call expect(all(x == sums(0, g%rank, 0, 3, 1)), "scan with op=")
    x = some(g%rank, 0, 3, 2)
    call tutti_exscan(g%comm, x, y, op=tutti_sum, ierror=code)
    call expect(g%rank == 0 .or. all(y == sums(0, g%rank - 1, 0, 3, 2)), "exscan with op=")
  end subroutine named_op

  subroutine named_op_at_root(g)
    type(group), intent(in) :: g
    integer(int64) :: x(2), y(2)
    integer :: root, code
    root = g%size - 1
    x = some(g%rank, 0, 2, 3)
    call tutti_reduce(g%comm, x, y, op=tutti_sum, root=root)
    call expect(g%rank /= root .or. all(y == sums(0, g%size - 1, 0, 2, 3)), "reduce with op= and root=")
    call tutti_reduce(g%comm, x, root=root, op=tutti_sum, ierror=code)
    call expect(g%rank /= root .or. all(x == sums(0, g%size - 1, 0, 2, 3)), "reduce in place with op= and root=")
  end subroutine named_op_at_root

  subroutine named_op_later(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: x(3), y(3), z(3)
    type(tutti_request) :: requests(3)
    integer :: code
    x = some(g%rank, 0, 3, 4)
    y = x
    call tutti_iallreduce(g%comm, y, op=tutti_sum, request=requests(1), ierror=code)
    call tutti_iallreduce(g%comm, x, z, op=tutti_max, request=requests(2))
    call tutti_waitall(requests(:2))
    call expect(all(y == sums(0, g%size - 1, 0, 3, 4)), "iallreduce in place with op=")
    call expect(all(z == some(g%size - 1, 0, 3, 4)), "iallreduce with op=")
    call tutti_scan_init(g%comm, x, op=tutti_sum, request=requests(3), options=tutti_options(timeout=60.0_c_double))
    call go(requests(3))
    call expect(all(x == sums(0, g%rank, 0, 3, 4)), "scan_init in place with op=")
    call tutti_request_free(requests(3))
  end subroutine named_op_later

  !> Without a tag a message has tag 0.
  subroutine without_tags(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(4), received(4)
    type(tutti_request) :: requests(2)
    type(tutti_group) :: messages
    type(tutti_status) :: status
    integer :: next, last
    next = modulo(g%rank + 1, g%size)
    last = modulo(g%rank - 1, g%size)
    sent = some(g%rank, 0, 4, 5)
    received = -1
    call tutti_sendrecv(g%comm, sent, next, received, last, status)
    call expect(all(received == some(last, 0, 4, 5)) .and. status%tag == 0, "sendrecv without tags")
    call tutti_irecv(g%comm, received, last, tag=0, request=requests(1))
    call tutti_isend(g%comm, sent(2:3), next, request=requests(2))
    call tutti_waitall(requests)
    call expect(all(received(:2) == sent(2:3) + held(last, 0, 0) - held(g%rank, 0, 0)), "isend without a tag")
    call tutti_irecv(g%comm, received, last, request=requests(1))
    call tutti_send(g%comm, sent, next)
    call tutti_wait(requests(1))
    call expect(all(received == some(last, 0, 4, 5)), "irecv and send without tags")
    call tutti_isend(g%comm, sent(4), next, 0, requests(1))
    call tutti_recv(g%comm, received(1), last)
    call tutti_wait(requests(1))
    call expect(received(1) == held(last, 4, 5), "recv without a tag")
    call tutti_group_create(g%comm, messages)
    call tutti_group_recv(messages, received, last)
    call tutti_group_send(messages, sent, next)
    call tutti_group_run(messages)
    call expect(all(received == some(last, 0, 4, 5)), "a group without tags")
    call tutti_group_free(messages)
  end subroutine without_tags

  !> Strings count in characters, so that a short one fits into a longer one.
  subroutine characters(g)
    type(group), intent(in) :: g
    character(len=11) :: text
    character(len=20), asynchronous :: long
    character(len=3) :: word, words(g%size)
    character(len=4), asynchronous :: table(2, 3)
    character(len=:), allocatable :: all_words
    type(tutti_request) :: request
    type(tutti_status) :: status
    integer :: r, next, last
    text = merge("from rank 0", "somewhere  ", g%rank == 0)
    call tutti_bcast(g%comm, text, 0)
    call expect(text == "from rank 0", "bcast of a string")
    write (word, '(a, i2.2)') "r", g%rank
    call tutti_allgather(g%comm, word, words)
    call expect(all([(words(r + 1) == "r"//achar(48 + r/10)//achar(48 + modulo(r, 10)), r=0, g%size - 1)]), &
        "allgather of strings")
    allocate (character(len=3*g%size) :: all_words)
    call tutti_allgatherv(g%comm, word, all_words, [(3, r=1, g%size)], [(3*r, r=0, g%size - 1)])
    call expect(all_words == transfer(words, all_words), "allgatherv of strings, counts in characters")
    next = modulo(g%rank + 1, g%size)
    last = modulo(g%rank - 1, g%size)
    long = "...................."
    call tutti_irecv(g%comm, long, last, request=request)
    call tutti_send(g%comm, word, next)
    call tutti_wait(request, status)
    call expect(long == words(last + 1)//"................." .and. status%count == 3, "a short string into a long one")
    table = merge("abcd", "....", g%rank == 0)
    call tutti_bcast(g%comm, table(1, :), 0)
    call expect(all(table(1, :) == "abcd") .and. (g%rank == 0 .or. all(table(2, :) == "....")), "a section of strings")
    call tutti_ibcast(g%comm, table, 0, request)
    call tutti_wait(request)
    call expect(all(table == "abcd"), "ibcast of strings")
  end subroutine characters

  subroutine logical_scalars(g)
    type(group), intent(in) :: g
    logical :: mine, flag
    logical, asynchronous :: later
    logical(c_bool) :: small
    type(tutti_request) :: request
    mine = g%rank == g%size - 1
    call tutti_allreduce(g%comm, mine, flag, tutti_lor)
    call expect(flag .and. (mine .eqv. g%rank == g%size - 1), "lor of scalars")
    call tutti_allreduce(g%comm, g%rank >= 0, flag, tutti_land)
    call expect(flag, "land of an expression")
    small = g%rank == 0
    call tutti_allreduce(g%comm, small, op=tutti_lxor)
    call expect(logical(small), "lxor of C's kind")
    later = g%rank == 0
    call tutti_ibcast(g%comm, later, 0, request)
    call tutti_wait(request)
    call expect(later, "ibcast of a logical")
  end subroutine logical_scalars

  !> Value and index in the two rows of an array, as for MPI_2DOUBLE_PRECISION and its like.
  subroutine pairs(g)
    type(group), intent(in) :: g
    real(real64) :: x(2, 3), y(2, 3)
    real(real32), asynchronous :: z(2)
    integer(int32) :: i(2, 2)
    integer(int64) :: k(2, 1), n
    type(tutti_request) :: request
    integer :: c
    n = g%size - 1
    x = reshape([(real([modulo(g%rank + c, g%size), 10*g%rank + c], real64), c=0, 2)], [2, 3])
    call tutti_allreduce(g%comm, x, y, tutti_maxloc)
    call expect(all(y(1, :) == n) .and. all(y(2, :) == [(10*modulo(n - c, g%size*1_int64) + c, c=0, 2)]), &
        "maxloc of real64 pairs")
    call tutti_allreduce(g%comm, x, op=tutti_minloc)
    call expect(all(x(1, :) == 0) .and. all(x(2, :) == [(10*modulo(-c, g%size) + c, c=0, 2)]), "minloc in place")
    z = [5.0, real(g%rank + 7)]
    call tutti_iallreduce(g%comm, z, tutti_minloc, request)
    call tutti_wait(request)
    call expect(all(z == [5.0, 7.0]), "of equal values the lower index")
    i = reshape([-g%rank, g%rank, 2**30 - g%rank, 2**24 + 1 + g%rank], [2, 2])
    call tutti_allreduce(g%comm, i, tutti_minloc)
    call expect(all(i == reshape([-int(n), int(n), 2**30 - int(n), 2**24 + 1 + int(n)], [2, 2])), "int32 pairs")
    k(:, 1) = [2_int64**40 + g%rank, 2_int64**41 - g%rank]
    call tutti_reduce(g%comm, k, tutti_maxloc, root=0)
    call expect(g%rank /= 0 .or. all(k(:, 1) == [2_int64**40 + n, 2_int64**41 - n]), "int64 pairs")
  end subroutine pairs

  subroutine pairs_by_blocks(g)
    type(group), intent(in) :: g
    real(real64) :: x(2, g%size), y(2), z(2, 2)
    integer :: r
    do r = 1, g%size
      x(:, r) = [real(100*r + g%rank, real64), real(g%rank, real64)]
    end do
    call tutti_reduce_scatter_block(g%comm, x, y, tutti_maxloc)
    call expect(all(y == [100*(g%rank + 1) + g%size - 1, g%size - 1]), "reduce_scatter_block of pairs")
    z = -1
    call tutti_reduce_scatter(g%comm, x, z, [(1, r=1, g%size)], tutti_maxloc)
    call expect(all(z(:, 1) == y) .and. all(z(:, 2) == -1), "reduce_scatter of pairs: counts in pairs")
  end subroutine pairs_by_blocks

  subroutine pairs_refused(g)
    type(group), intent(in) :: g
    real(real64) :: x(3, 2), y(3, 2), scalar
    integer :: code
    x = 0; scalar = 0
    call tutti_allreduce(g%comm, x, y, tutti_minloc, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_allreduce: argument sendbuf has no value-index")
    call tutti_allreduce(g%comm, scalar, tutti_minloc, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument inout has no value-index pairs")
    call tutti_allreduce(g%comm, tutti_in_place, x, tutti_maxloc, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument recvbuf has no value-index pairs")
  end subroutine pairs_refused

  !> The greater in absolute value. context counts the calls.
  subroutine farthest(in, inout, count, datatype, context) bind(C)
    type(c_ptr), value :: in, inout, context
    integer(c_size_t), value :: count
    integer(c_int64_t), value :: datatype
    real(real64), pointer :: a(:), b(:)
    integer(c_int), pointer :: calls
    call c_f_pointer(in, a, [count])
    call c_f_pointer(inout, b, [count])
    where (abs(a) > abs(b)) b = a
    if (.not. c_associated(context)) return
    call c_f_pointer(context, calls)
    if (datatype == tutti_float64%handle) calls = calls + 1
  end subroutine farthest

  !> The arguments have C's order: function, context, commutative, op.
  subroutine user_operation(g)
    type(group), intent(in) :: g
    integer(c_int), target :: calls
    real(real64) :: x(2)
    type(tutti_op) :: op
    calls = 0
    x = [real(g%rank, real64), -1.0_real64 - g%rank]
    call tutti_op_user(farthest, c_loc(calls), .true., op)
    call tutti_allreduce(g%comm, x, op)
    call expect(all(x == [g%size - 1, -g%size]) .and. (calls > 0 .or. g%size == 1), "a procedure with a context")
    call tutti_op_free(op)
    x = [real(g%rank, real64), -1.0_real64 - g%rank]
    call tutti_op_user(function=c_funloc(farthest), context=c_null_ptr, commutative=.false., op=op)
    call tutti_scan(g%comm, x, op)
    call expect(all(x == [g%rank, -g%rank - 1]), "a c_funloc without a context")
    call tutti_op_free(op)
  end subroutine user_operation

  !> Two arrays of this rank, in the order of the arguments.
  subroutine combined(g)
    type(group), intent(in) :: g
    integer(int64), target :: x(3), y(3)
    real(real64) :: table(2, 4), pair(2), least(2)
    type(tutti_op) :: op
    integer(c_int), target :: calls
    integer :: code
    x = some(g%rank, 0, 3, 6)
    y = some(g%rank + 1, 0, 3, 6)
    call tutti_combine(x, y, tutti_sum)
    call expect(all(y == sums(g%rank, g%rank + 1, 0, 3, 6)), "combine")
    call tutti_combine(c_loc(x), c_loc(y), 2, tutti_int64, tutti_min)
    call expect(all(y(:2) == x(:2)) .and. y(3) > x(3), "combine by address")
    table = g%rank
    call tutti_combine(table(1, :), table(2, :), tutti_sum)
    call expect(all(table(1, :) == g%rank) .and. all(table(2, :) == 2*g%rank), "combine of sections")
    pair = [2.0d0, 7.0d0]
    least = [2.0d0, 9.0d0]
    call tutti_combine(pair, least, tutti_minloc)
    call expect(all(least == pair), "combine of pairs")
    calls = 0
    pair = [-5, 1]
    least = [4, -4]
    call tutti_op_user(farthest, c_loc(calls), .true., op)
    call tutti_combine(pair, least, op)
    call expect(all(least == [-5, -4]) .and. calls == 1, "combine by a procedure")
    call tutti_op_free(op)
    call tutti_combine(x, y(:2), tutti_sum, code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_combine: argument inout has a number of elements")
    call tutti_combine(x, pair, tutti_sum, code)
    call expect_failure(code, tutti_error_invalid_datatype, "tutti_combine: argument inout has another type")
  end subroutine combined

  integer(c_int) function nothing(context) bind(C)
    type(c_ptr), value :: context
    nothing = merge(tutti_success, tutti_error_io, c_associated(context))
  end function nothing

  !> Without CUDA, questions have answers, and what needs CUDA says so.
  subroutine devices(g)
    type(group), intent(in) :: g
    character(len=:), allocatable :: reason
    type(tutti_device_graph) :: graph
    type(c_ptr) :: data
    integer :: number, code
    logical :: idle
    call tutti_stream_is_idle(tutti_stream_none, c_null_ptr, idle)
    call expect(idle .and. g%size > 0, "no stream is idle")
    call tutti_stream_wait(tutti_stream_none, c_null_ptr)
    call tutti_stream_wait(7, c_null_ptr, code)
    call expect_failure(code, tutti_error_invalid_argument, "argument stream_kind")
    call tutti_device_allocate(tutti_memory_host, 64, data, code)
    call expect_failure(code, tutti_error_invalid_argument, "argument memory_kind")
    call tutti_device_allocate(tutti_memory_pinned, -1, data, code)
    call expect_failure(code, tutti_error_invalid_argument, "argument bytes is negative")
    call tutti_device_graph_free(graph)
    call tutti_device_graph_launch(graph, tutti_stream_cuda, c_null_ptr, code)
    call expect_failure(code, tutti_error_invalid_argument, "argument graph")
    call tutti_why_no_device(reason)
    if (index(reason, "TUTTI_ENABLE_CUDA") == 0) return
    call tutti_device_count(number)
    call expect(number == 0, "no device")
    call tutti_current_device(number, code)
    call expect_failure(code, tutti_error_not_built, "TUTTI_ENABLE_CUDA")
    call tutti_set_current_device(0, code)
    call expect_failure(code, tutti_error_not_built, "TUTTI_ENABLE_CUDA")
    call tutti_device_graph_capture(tutti_stream_cuda, c_null_ptr, nothing, c_null_ptr, graph, code)
    call expect_failure(code, tutti_error_not_built, "TUTTI_ENABLE_CUDA")
  end subroutine devices

  !> Two elements of every rank; the others than the root have neither counts nor a place for the result.
  subroutine gather_pairs(g, mine, all_of_them, displs)
    type(group), intent(in) :: g
    real, intent(in) :: mine(2)
    real, allocatable, intent(inout) :: all_of_them(:)
    integer, allocatable, intent(in) :: displs(:)
    integer, allocatable :: counts(:)
    if (g%rank == 0) allocate (counts(g%size), source=2)
    call tutti_gatherv(g%comm, mine, all_of_them, counts, displs, 0)
  end subroutine gather_pairs

  !> Errors name the argument. Empty arrays are no error, and neither are arrays that a rank does not read.
  subroutine absent_arrays(g)
    type(group), intent(in) :: g
    real, allocatable :: none(:), empty(:, :), plane(:, :)
    real, pointer, contiguous :: null(:)
    real, asynchronous :: x(2)
    integer, allocatable :: counts(:)
    integer(int64), allocatable :: wide_counts(:)
    type(tutti_request) :: request
    type(tutti_request), allocatable :: requests(:)
    integer :: code, index
    nullify (null)
    allocate (empty(0, 4))
    x = 1
    call tutti_allreduce(g%comm, none, tutti_sum, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_allreduce: argument inout is not allocated")
    call tutti_allreduce(g%comm, none, x, tutti_sum, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument sendbuf is not allocated")
    call tutti_allgather(g%comm, x, plane, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_allgather: argument recvbuf is not allocated")
    call tutti_ibcast(g%comm, null, 0, request, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_ibcast: argument buffer is not allocated or not ass")
    call tutti_send(g%comm, null, 0, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_send: argument buffer is not allocated")
    call tutti_sendrecv(g%comm, x, 0, none, 0, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_sendrecv: argument recvbuf is not allocated")
    call tutti_allgatherv(g%comm, x, x, counts, counts, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_allgatherv: argument recv_counts")
    call tutti_allgatherv(g%comm, x, x, wide_counts, wide_counts, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_allgatherv: argument recv_counts is not allocated")
    call tutti_waitall(requests, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_waitall: argument requests is not allocated")
    call tutti_waitany(requests, index, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_waitany: argument requests is not allocated")
    call tutti_startall(requests, code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_startall: argument requests is not allocated")
    call tutti_allreduce(g%comm, empty, tutti_sum)
    call tutti_allreduce(g%comm, [real ::], empty, tutti_sum, ierror=code)
    call expect(code == tutti_success, "an empty array constructor")
    if (g%rank == 0) then
      call tutti_reduce(g%comm, tutti_in_place, x, tutti_sum, 0)
    else
      call tutti_reduce(g%comm, x, none, tutti_sum, 0)
    end if
    call expect(all(x == merge(g%size, 1, g%rank == 0)), "recvbuf exists at the root only")
    x = real(g%rank)
    if (g%rank == 0) allocate (counts(g%size), none(2*g%size))
    if (g%rank == 0) counts = [(2*index, index=0, g%size - 1)]
    call gather_pairs(g, x, none, counts)
    if (g%rank == 0) call expect(all(none == [(real(index/2), index=0, 2*g%size - 1)]), "counts exist at the root only")
  end subroutine absent_arrays

end module forms
