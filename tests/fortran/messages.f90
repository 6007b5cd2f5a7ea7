! SPDX-License-Identifier: BSD-3-Clause
!> Point-to-point, groups of messages, and requests.
module messages
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
