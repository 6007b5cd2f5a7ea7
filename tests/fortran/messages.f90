! SPDX-License-Identifier: BSD-3-Clause
!> Point-to-point, groups of messages, and requests.
module messages
  use, intrinsic :: iso_c_binding, only: c_loc
  use check
  implicit none
  private
  public :: test_messages, test_requests

contains

  subroutine test_messages(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(20), received(20)
    type(tutti_request) :: requests(2)
    type(tutti_status) :: status, statuses(2)
    integer :: next, last
    next = modulo(g%rank + 1, g%size)
    last = modulo(g%rank - 1, g%size)
    sent = some(g%rank, 0, 20, 1)
    received = -1
    if (modulo(g%rank, 2) == 0 .and. g%rank + 1 < g%size) call tutti_send(g%comm, sent(1:17), next, 3)
    if (modulo(g%rank, 2) == 1) then
      call tutti_recv(g%comm, received, last, 3, status)
      call expect(status%source == last .and. status%tag == 3 .and. status%count == 17, "status of recv")
      call expect(all(received(:17) == some(last, 0, 17, 1)) .and. received(18) == -1, "recv")
    end if
    call tutti_sendrecv(g%comm, sent(1:20:2), next, 4, received(1:10), last, 4)
    call expect(all(received(:10) == [(held(last, next, 1), next=1, 20, 2)]), "sendrecv of a section")
    next = modulo(g%rank + 1, g%size)
    call tutti_irecv(g%comm, received, tutti_any_source, tutti_any_tag, requests(1))
    call tutti_isend(g%comm, sent(3:9), next, 5, requests(2))
    call tutti_waitall(requests, statuses)
    call expect(statuses(1)%source == last .and. statuses(1)%count == 7, "irecv of any")
    call expect(all(received(:7) == some(last, 2, 7, 1)), "irecv")
    call tutti_barrier(g%comm)
    call test_groups(g)
    call test_persistent(g)
    call test_probe(g)
    call test_sections(g)
    call test_sections_of_collectives(g)
    call test_derived(g)
  end subroutine test_messages

  !> Every rank sends to all and receives from all, in an order that blocking calls would deadlock in.
  subroutine test_groups(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(g%size), received(g%size)
    type(tutti_group) :: messages
    type(tutti_request) :: request
    integer :: r, iteration
    call tutti_group_create(g%comm, messages)
    do iteration = 1, 2
      do r = 1, g%size
        sent(r) = held(g%rank, r, iteration)
        received(r) = -1
        call tutti_group_send(messages, sent(r), r - 1, 9)
        call tutti_group_recv(messages, received(r), r - 1, 9)
      end do
      if (iteration == 1) then
        call tutti_group_run(messages)
      else
        call tutti_group_start(messages, request)
        call tutti_wait(request)
      end if
      call expect(all(received == [(held(r, g%rank + 1, iteration), r=0, g%size - 1)]), "group")
    end do
    call tutti_group_free(messages)
  end subroutine test_groups

  !> A bound ring and a bound group, started again with other values.
  subroutine test_persistent(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(9), received(9)
    type(tutti_group) :: messages
    type(tutti_request) :: requests(2), halo
    type(tutti_status) :: statuses(2)
    integer :: next, last, iteration
    next = modulo(g%rank + 1, g%size)
    last = modulo(g%rank - 1, g%size)
    call tutti_recv_init(g%comm, received, last, 11, requests(1))
    call tutti_send_init(g%comm, sent(2:8), next, 11, requests(2))
    call tutti_group_create(g%comm, messages)
    call tutti_group_send(messages, sent, next, 12)
    call tutti_group_recv(messages, received, last, 12)
    call tutti_group_init(messages, halo)
    call tutti_group_free(messages)
    do iteration = 1, 3
      sent = some(g%rank, 0, 9, iteration)
      received = -1
      call tutti_startall(requests)
      call tutti_waitall(requests, statuses)
      call expect(statuses(1)%source == last .and. statuses(1)%count == 7, "status of a persistent recv")
      call expect(all(received(:7) == some(last, 1, 7, iteration)) .and. received(8) == -1, "recv_init")
      received = -1
      call tutti_start(halo)
      call tutti_wait(halo)
      call expect(all(received == some(last, 0, 9, iteration)), "group_init")
    end do
    call tutti_request_free(requests(1))
    call tutti_request_free(requests(2))
    call tutti_request_free(halo)
  end subroutine test_persistent

  subroutine test_probe(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(20)
    integer(int64), allocatable :: received(:)
    type(tutti_request) :: request
    type(tutti_status) :: status
    logical :: found
    integer :: next, last, length
    next = modulo(g%rank + 1, g%size)
    last = modulo(g%rank - 1, g%size)
    call tutti_iprobe(g%comm, tutti_int64, last, 14, found)
    call expect(.not. found, "iprobe of none")
    call tutti_barrier(g%comm)
    sent = some(g%rank, 0, 20, 4)
    length = 5 + g%rank
    call tutti_isend(g%comm, sent(1:length), next, 14, request)
    call tutti_probe(g%comm, tutti_int64, tutti_any_source, 14, status)
    call expect(status%source == last .and. status%tag == 14 .and. status%count == 5 + last, "probe")
    call tutti_iprobe(g%comm, tutti_int64, last, 14, found, status)
    call expect(found .and. status%count == 5 + last, "iprobe")
    allocate (received(status%count))
    call tutti_recv(g%comm, received, last, 14)
    call expect(all(received == some(last, 0, 5 + last, 4)), "recv after probe")
    call tutti_wait(request)
  end subroutine test_probe

  !> Sections that are not contiguous, in calls that return before they are done.
  subroutine test_sections(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: from(5, 4), to(5, 4), flat(12)
    character(len=3), asynchronous :: words(6), heard(6)
    type(tutti_group) :: messages
    type(tutti_request) :: requests(2), halo
    type(tutti_status) :: statuses(2)
    integer :: next, last, iteration
    next = modulo(g%rank + 1, g%size)
    last = modulo(g%rank - 1, g%size)
    from = reshape(some(g%rank, 0, 20, 1), [5, 4])
    to = -1
    flat = -1
    call tutti_irecv(g%comm, flat(12:1:-3), last, 51, requests(1))
    call tutti_isend(g%comm, from(2, :), next, 51, requests(2))
    call tutti_waitall(requests, statuses)
    call expect(statuses(1)%count == 4, "elements of a section")
    call expect(all(flat(12:1:-3) == [(held(last, 2 + 5*iteration, 1), iteration=0, 3)]), "irecv of a section")
    call expect(count(flat == -1) == 8, "beside the section received")
    words = [character(len=3) :: "abc", "def", "ghi", "jkl", "mno", "pqr"]
    write (words(5), '(i3)') g%rank
    heard = "..."
    call tutti_irecv(g%comm, heard(1:5:2), last, 52, requests(1))
    call tutti_isend(g%comm, words(1:5:2), next, 52, requests(2))
    call tutti_waitall(requests)
    write (words(5), '(i3)') last
    call expect(all(heard(1:5:2) == words(1:5:2)) .and. all(heard(2:6:2) == "..."), "sections of strings")
    call tutti_group_create(g%comm, messages)
    call tutti_group_send(messages, from(4, 1:4:3), next, 53)
    call tutti_group_recv(messages, to(1, 1:4:3), last, 53)
    call tutti_group_send(messages, from(1:5:2, 2:3), next, 54)
    call tutti_group_recv(messages, to(3:5, 1:3:2), last, 54)
    call tutti_group_init(messages, halo)
    call tutti_group_free(messages)
    do iteration = 2, 4
      from = reshape(some(g%rank, 0, 20, iteration), [5, 4])
      to = -1
      call tutti_start(halo)
      call tutti_wait(halo)
      call expect(all(to(1, 1:4:3) == [held(last, 4, iteration), held(last, 19, iteration)]), "row of a halo")
      call expect(all(to(3:5, 1) == [held(last, 6, iteration), held(last, 8, iteration), held(last, 10, iteration)]) &
          .and. to(5, 3) == held(last, 15, iteration), "part of a halo")
      call expect(count(to == -1) == 12, "beside the halo")
    end do
    call tutti_request_free(halo)
  end subroutine test_sections

  !> The rows of a matrix, which are not contiguous, as blocks of nonblocking and persistent collectives.
  subroutine test_sections_of_collectives(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: from(3, g%size), block(3), wide(6, g%size)
    type(tutti_request) :: request
    integer :: r, iteration
    from = reshape(some(g%rank, 0, 3*g%size, 1), [3, g%size])
    wide = -1
    call tutti_ialltoall(g%comm, from, wide(2:6:2, :), request)
    call tutti_wait(request)
    do r = 0, g%size - 1
      call expect(all(wide(2:6:2, r + 1) == some(r, 3*g%rank, 3, 1)) .and. all(wide(1:5:2, r + 1) == -1), "ialltoall")
    end do
    call tutti_iscatter(g%comm, wide(2:6:2, :), block, 0, request)
    call tutti_wait(request)
    call expect(all(block == some(g%rank, 0, 3, 1)), "iscatter of a section")
    wide = -1
    call tutti_igather(g%comm, from(:, 1), wide(1:5:2, :), 0, request)
    call tutti_wait(request)
    if (g%rank == 0) call expect(all(wide(1:5:2, g%size) == some(g%size - 1, 0, 3, 1)), "igather into a section")
    call tutti_allgather_init(g%comm, from(:, g%size), wide(6:2:-2, :), request)
    do iteration = 2, 3
      from = reshape(some(g%rank, 0, 3*g%size, iteration), [3, g%size])
      wide = -1
      call tutti_start(request)
      call tutti_wait(request)
      do r = 0, g%size - 1
        call expect(all(wide(6:2:-2, r + 1) == some(r, 3*g%size - 3, 3, iteration)), "allgather_init")
      end do
    end do
    call tutti_request_free(request)
    wide = reshape(some(g%rank, 0, 6*g%size, 5), [6, g%size])
    call tutti_ibcast(g%comm, wide(3:4, :), g%size - 1, request)
    call tutti_wait(request)
    call expect(all(wide(3, :) == [(held(g%size - 1, 3 + 6*r, 5), r=0, g%size - 1)]), "ibcast of a section")
    call expect(all(wide(2, :) == [(held(g%rank, 2 + 6*r, 5), r=0, g%size - 1)]), "beside the section of ibcast")
  end subroutine test_sections_of_collectives

  !> Derived datatypes, by address.
  subroutine test_derived(g)
    type(group), intent(in) :: g
    integer(int64), target, asynchronous :: from(4, 5), to(4, 5)
    type(tutti_datatype) :: row, part, both, narrow
    type(tutti_request) :: requests(2)
    integer :: next, last, code
    next = modulo(g%rank + 1, g%size)
    last = modulo(g%rank - 1, g%size)
    from = reshape(some(g%rank, 0, 20, 1), [4, 5])
    to = -1
    call tutti_datatype_vector(4, 1, 4, tutti_int64, row)
    call tutti_datatype_subarray([4, 5], [2, 2], [1, 3], tutti_int64, part)
    call tutti_irecv(g%comm, c_loc(to), 1, part, last, 55, requests(1))
    call tutti_isend(g%comm, c_loc(from), 1, row, next, 55, requests(2))
    call tutti_waitall(requests)
    call expect(all(to(2:3, 4) == [held(last, 1, 1), held(last, 5, 1)]) .and. &
        all(to(2:3, 5) == [held(last, 9, 1), held(last, 13, 1)]) .and. count(to == -1) == 16, "derived datatypes")
    call tutti_datatype_resized(row, 1, narrow)
    call tutti_datatype_sides(narrow, tutti_int64, both)
    call tutti_bcast(g%comm, c_loc(to), 1, row, 0)
    call tutti_datatype_free(both)
    call tutti_datatype_free(narrow)
    call tutti_datatype_free(part)
    call tutti_datatype_free(row)
    call tutti_datatype_vector(4, -1, 4, tutti_int64, row, code)
    call expect_failure(code, tutti_error_invalid_argument, "block_length")
    call tutti_datatype_subarray([4, 5], [2, 2], [1, 4], tutti_int64, row, code)
    call expect_failure(code, tutti_error_invalid_argument, "starts")
  end subroutine test_derived

  !> Receives whose messages come one by one.
  subroutine test_some(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: x(3)
    integer(int64) :: sent(3)
    type(tutti_request) :: requests(3)
    type(tutti_status) :: status, statuses(3)
    integer :: i, next, last, index, completed, indices(3)
    logical :: done
    next = modulo(g%rank + 1, g%size)
    last = modulo(g%rank - 1, g%size)
    sent = some(g%rank, 0, 3, 5)
    do i = 1, 3
      call tutti_irecv(g%comm, x(i), last, 40 + i, requests(i))
    end do
    call tutti_testsome(requests, completed, indices)
    call expect(completed == 0, "testsome of none")
    call tutti_testany(requests, index, done)
    call expect(.not. done .and. index == tutti_undefined, "testany of none")
    call tutti_barrier(g%comm)
    call tutti_send(g%comm, sent(2), next, 42)
    call tutti_waitsome(requests, completed, indices, statuses)
    call expect(completed == 1 .and. indices(1) == 2 .and. statuses(1)%tag == 42, "waitsome")
    call tutti_testall(requests, done)
    call expect(.not. done, "testall before all are done")
    call tutti_barrier(g%comm)
    call tutti_send(g%comm, sent(3), next, 43)
    done = .false.
    do while (.not. done)
      call tutti_testany(requests, index, done, status)
    end do
    call expect(index == 3 .and. status%tag == 43, "testany")
    call tutti_barrier(g%comm)
    call tutti_send(g%comm, sent(1), next, 41)
    done = .false.
    do while (.not. done)
      call tutti_testall(requests, done, statuses)
    end do
    call expect(statuses(1)%tag == 41 .and. all(x == some(last, 0, 3, 5)), "testall")
    call tutti_waitsome(requests, completed, indices)
    call expect(completed == tutti_undefined, "waitsome of none")
  end subroutine test_some

  subroutine test_requests(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: x(3)
    type(tutti_request) :: requests(3)
    integer :: i, index, seen, code, error
    logical :: done
    x = some(g%rank, 0, 3, 0)
    do i = 1, 3
      call tutti_iallreduce(g%comm, x(i), tutti_sum, requests(i))
    end do
    call tutti_request_error(requests(1), error)
    call expect(error == tutti_success, "no error")
    done = .false.
    do while (.not. done)
      call tutti_test(requests(3), done)
    end do
    seen = 0
    do i = 1, 2
      call tutti_waitany(requests, index)
      seen = seen + index
    end do
    call expect(seen == 3 .and. all(x == sums(0, g%size - 1, 0, 3, 0)), "waitany")
    call tutti_waitany(requests, index)
    call expect(index == tutti_undefined, "waitany of none")
    do i = 1, 3
      call tutti_allreduce_init(g%comm, x(i), tutti_sum, requests(i))
    end do
    x = some(g%rank, 0, 3, 1)
    call tutti_startall(requests)
    call tutti_waitall(requests)
    call expect(all(x == sums(0, g%size - 1, 0, 3, 1)), "startall")
    do i = 1, 3
      call tutti_request_free(requests(i))
    end do
    call tutti_start(requests(1), code)
    call expect_failure(code, tutti_error_invalid_request, "_init")
    call test_some(g)
  end subroutine test_requests

end module messages
