! SPDX-License-Identifier: BSD-3-Clause
!> What does not need a GPU: calls by address, declared memory kinds, streams beside host buffers, preparation.
module device
  use check
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: test_device

contains

  subroutine test_device(g)
    type(group), intent(in) :: g
    integer :: code
    character(len=:), allocatable :: text
    call on_host(g, tutti_options(memory=tutti_memory_host))
    call streams(g)
    call tutti_comm_prepare_device(tutti_comm(), ierror=code)
    call expect_failure(code, tutti_error_invalid_communicator, "argument comm")
    call tutti_comm_device_report(g%comm, text)
    call expect(len(text) > 0, "a report")
    call tutti_comm_device_report(tutti_comm(), text, ierror=code)
    call expect_failure(code, tutti_error_invalid_communicator, "argument comm")
    call sections(g)
    call tutti_comm_prepare_device(g%comm, ierror=code)
    if (code == tutti_error_not_built) then
      call expect_failure(code, tutti_error_not_built, "TUTTI_ENABLE_CUDA=ON")
      call without_cuda(g, tutti_memory_device)
      call without_cuda(g, tutti_memory_managed)
      call messages_without_cuda(g, tutti_memory_device)
      call messages_without_cuda(g, tutti_memory_managed)
    end if
    call on_host(g, tutti_options())
  end subroutine test_device

  !> By address: separate buffers, in place, and 64-bit counts.
  subroutine on_host(g, options)
    type(group), intent(in) :: g
    type(tutti_options), intent(in) :: options
    integer(int64), target :: x(block), y(block)
    x = some(g%rank, 0, block, 0)
    call tutti_allreduce(g%comm, c_loc(x), c_loc(y), block, tutti_int64, tutti_sum, options)
    call expect(all(y == sums(0, g%size - 1, 0, block, 0)), "allreduce by address")
    call tutti_allreduce(g%comm, c_loc(tutti_in_place), c_loc(x), int(block, int64), tutti_int64, tutti_sum, options)
    call expect(all(x == y), "allreduce by address, in place")
  end subroutine on_host

  !> A stream, even none that exists, says nothing about host buffers.
  subroutine streams(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: x(block)
    integer(int64), target :: y(block)
    integer, target :: nothing
    type(tutti_options) :: options
    type(tutti_request) :: request
    options = tutti_options(stream_kind=tutti_stream_cuda, stream=c_loc(nothing))
    x = some(g%rank, 0, block, 1)
    call tutti_allreduce(g%comm, x, tutti_sum, options)
    call expect(all(x == sums(0, g%size - 1, 0, block, 1)), "allreduce beside a stream")
    y = some(g%rank, 0, block, 2)
    call tutti_iallreduce(g%comm, c_loc(tutti_in_place), c_loc(y), block, tutti_int64, tutti_sum, request, options)
    call tutti_wait_on_stream(request, options%stream_kind, options%stream)
    call expect(all(y == sums(0, g%size - 1, 0, block, 2)), "wait on a stream")
    call expect(.not. c_associated(request%handle), "a request that is done")
    call tutti_wait_on_stream(request, 7, options%stream, ierror=nothing)
    call expect_failure(nothing, tutti_error_invalid_argument, "argument stream_kind")
  end subroutine streams

  !> A section that is said to be in device memory is not packed, whatever the library was built with.
  subroutine sections(g)
    type(group), intent(in) :: g
    integer(int64) :: x(2*block), y(block)
    type(tutti_options) :: options
    type(tutti_status) :: status
    integer :: code, k
    integer, parameter :: kinds(2) = [tutti_memory_device, tutti_memory_managed]
    x = -1
    y = -1
    do k = 1, 2
      options%memory = kinds(k)
      call tutti_allreduce(g%comm, x(::2), tutti_sum, options, ierror=code)
      call expect_failure(code, tutti_error_invalid_argument, "section in device memory")
      call tutti_bcast(g%comm, x(::2), 0, options, ierror=code)
      call expect_failure(code, tutti_error_invalid_argument, "argument buffer")
      call tutti_scan(g%comm, y, x(block:1:-1), tutti_sum, options, ierror=code)
      call expect_failure(code, tutti_error_invalid_argument, "argument recvbuf is a section in device memory")
      call tutti_alltoallv(g%comm, x(::2), spread(0, 1, g%size), spread(0, 1, g%size), y, spread(0, 1, g%size), &
          spread(0, 1, g%size), options, ierror=code)
      call expect_failure(code, tutti_error_invalid_argument, "argument sendbuf is a section in device memory")
      call tutti_send(g%comm, x(::2), 0, 1, options, ierror=code)
      call expect_failure(code, tutti_error_invalid_argument, "section in device memory")
      call tutti_recv(g%comm, x(::2), 0, 1, status, options, ierror=code)
      call expect_failure(code, tutti_error_invalid_argument, "section in device memory")
    end do
    call expect(all(x == -1) .and. all(y == -1), "nothing was written")
    options%memory = tutti_memory_pinned
    x(::2) = g%rank
    call tutti_bcast(g%comm, x(::2), g%size - 1, options)
    call expect(all(x(::2) == g%size - 1) .and. all(x(2::2) == -1), "a section of pinned memory is packed")
  end subroutine sections

  !> Refused on every rank with the remedy, as an array and by address; calls on host memory go on.
  subroutine without_cuda(g, memory)
    type(group), intent(in) :: g
    integer, intent(in) :: memory
    integer(int64), asynchronous, target :: x(block), y(block)
    integer(int64), pointer, contiguous :: part(:)
    type(tutti_options) :: options
    type(tutti_request) :: request, under_way
    type(c_ptr) :: a, data
    integer :: code
    options%memory = memory
    x = some(g%rank, 0, block, 3)
    y = -1
    a = c_loc(y)
    call tutti_iallreduce(g%comm, x, tutti_sum, under_way)
    call tutti_bcast(g%comm, y, 0, options, ierror=code)
    call expect_failure(code, tutti_error_not_built, "TUTTI_ENABLE_CUDA=ON")
    call tutti_bcast(g%comm, a, block, tutti_int64, 0, options, ierror=code)
    call expect_failure(code, tutti_error_not_built, "TUTTI_ENABLE_CUDA=ON")
    call tutti_iallreduce(g%comm, c_loc(tutti_in_place), a, block, tutti_int64, tutti_sum, request, options, code)
    call expect_failure(code, tutti_error_not_built, "TUTTI_ENABLE_CUDA=ON")
    call tutti_allreduce_init(g%comm, y, tutti_sum, request, options, ierror=code)
    call expect_failure(code, tutti_error_not_built, "TUTTI_ENABLE_CUDA=ON")
    call tutti_allgatherv(g%comm, a, 1, a, spread(1, 1, g%size), spread(0, 1, g%size), tutti_int64, options, code)
    call expect(code == tutti_error_not_built .or. code == tutti_error_invalid_argument, "allgatherv is refused")
    call tutti_allocate(g%comm, part, [8], memory=memory, ierror=code)
    call expect_failure(code, tutti_error_not_built, "memory")
    call expect(.not. associated(part), "nothing allocated")
    call tutti_allocate(g%comm, 8, data, memory=memory, ierror=code)
    call expect_failure(code, tutti_error_not_built, "memory")
    call expect(.not. c_associated(data) .and. .not. c_associated(request%handle), "null handles")
    call tutti_wait(under_way)
    call expect(all(x == sums(0, g%size - 1, 0, block, 3)) .and. all(y == -1), "what was under way")
  end subroutine without_cuda

  subroutine messages_without_cuda(g, memory)
    type(group), intent(in) :: g
    integer, intent(in) :: memory
    integer(int64), asynchronous, target :: x(block)
    type(tutti_options) :: options
    type(tutti_request) :: request
    integer :: code
    options%memory = memory
    x = -1
    call tutti_isend(g%comm, c_loc(x), block, tutti_int64, g%rank, 1, request, options, ierror=code)
    call expect_failure(code, tutti_error_not_built, "host memory")
    call tutti_recv(g%comm, x, g%rank, 1, options=options, ierror=code)
    call expect_failure(code, tutti_error_not_built, "host memory")
    call expect(.not. c_associated(request%handle) .and. all(x == -1), "messages are refused")
  end subroutine messages_without_cuda

end module device
