! SPDX-License-Identifier: BSD-3-Clause
!> The module on "device" memory, with the stand-ins of CUDA and NCCL: arrays and addresses reach the library as they are,
!> in stream order, and no wrapper touches an element. Proves nothing about a GPU.
module captured_work
  use tutti
  use, intrinsic :: iso_c_binding
  implicit none

  !> The arguments of an allreduce.
  type :: work
    type(tutti_comm) :: comm
    type(tutti_options) :: options
    type(c_ptr) :: from, to
    integer :: count
  end type

contains

  integer(c_int) function enqueue(context) bind(C)
    type(c_ptr), value :: context
    type(work), pointer :: w
    integer :: ierror
    call c_f_pointer(context, w)
    call tutti_allreduce(w%comm, w%from, w%to, w%count, tutti_int64, tutti_sum, w%options, ierror)
    enqueue = ierror
  end function enqueue

end module captured_work

program standin_device
  use mpi_f08
  use tutti
  use check
  use captured_work
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function standin_stream() bind(C) result(stream)
      import
      type(c_ptr) :: stream
    end function
    function standin_device_memory(count) bind(C) result(data)
      import
      integer(c_size_t), value :: count
      type(c_ptr) :: data
    end function
    subroutine standin_fill(data, count, first, step) bind(C)
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: count
      integer(c_int64_t), value :: first, step
    end subroutine
    subroutine standin_copy(to, from, count) bind(C)
      import
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: count
    end subroutine
    subroutine standin_close() bind(C)
    end subroutine
    subroutine standin_run() bind(C)
    end subroutine
    integer(c_int) function standin_was_told(algorithm) bind(C)
      import
      character(kind=c_char), intent(in) :: algorithm(*)
    end function
    integer(c_int) function standin_failed() bind(C)
      import
    end function
  end interface

  integer, parameter :: n = 6, room = 1024
  type(tutti_comm) :: comm
  type(tutti_options) :: options
  type(tutti_request) :: request
  integer(int64), pointer, contiguous, asynchronous :: x(:), y(:)
  integer(int64), target :: seen(room)
  character(len=:), allocatable :: report
  type(c_ptr) :: a, b
  integer :: rank, ranks, total, code, r
  logical :: done

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, code)
  options = tutti_options(stream_kind=tutti_stream_cuda, stream=standin_stream())
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)
  call tutti_comm_prepare_device(comm)
  call tutti_comm_device_report(comm, report)
  call expect(index(report, "NCCL") > 0, "the report has NCCL")
  a = standin_device_memory(int(room, c_size_t))
  b = standin_device_memory(int(room, c_size_t))
  call c_f_pointer(a, x, [room])
  call c_f_pointer(b, y, [room])

  call begin()
  call tutti_allreduce(comm, x(:n), tutti_sum, options)
  call finish(a, "allreduce in place")
  call expect(all(seen(:n) == [(total_of(r), r=0, n - 1)]), "allreduce in place")

  call begin()
  call tutti_allreduce(comm, x(:n), y(:n), tutti_sum, options)
  call finish(b, "allreduce")
  call expect(all(seen(:n) == [(total_of(r), r=0, n - 1)]), "allreduce")

  call begin()
  call tutti_allreduce(comm, x(:n), y(:n), tutti_sum, tutti_options(algorithm="nccl:ring_simple", &
      stream_kind=tutti_stream_cuda, stream=standin_stream()))
  call finish(b, "allreduce by an algorithm of NCCL's")
  call expect(all(seen(:n) == [(total_of(r), r=0, n - 1)]), "allreduce by an algorithm of NCCL's")
  call expect(ranks == 1 .or. standin_was_told("ring_simple" // c_null_char) == 1, "NCCL is told its algorithm")

  call begin()
  call tutti_bcast(comm, x(:n), ranks - 1, options)
  call finish(a, "bcast")
  call expect(all(seen(:n) == [(given(ranks - 1, r), r=0, n - 1)]), "bcast")

  call begin()
  call tutti_allgather(comm, x(:n), y(:n*ranks), options)
  call finish(b, "allgather")
  call expect(all(seen(:n*ranks) == [((given(r, code), code=0, n - 1), r=0, ranks - 1)]), "allgather")

  call begin()
  call tutti_alltoallv(comm, x, spread(2, 1, ranks), [(3*r, r=0, ranks - 1)], y, spread(2, 1, ranks), &
      [(4*r, r=0, ranks - 1)], options)
  call finish(b, "alltoallv")
  call expect(all(seen([(4*r + 2, r=0, ranks - 1)]) == [(given(r, 3*rank + 1), r=0, ranks - 1)]), "alltoallv")

  call begin()
  call tutti_reduce_scatter_block(comm, a, b, 2, tutti_int64, tutti_sum, options)
  call finish(b, "reduce_scatter_block by address")
  call expect(all(seen(:2) == [total_of(2*rank), total_of(2*rank + 1)]), "reduce_scatter_block by address")

  call begin()
  call tutti_iallreduce(comm, c_loc(tutti_in_place), a, n, tutti_int64, tutti_sum, request, options)
  done = .false.
  do while (.not. done)  ! a first launch waits for the peers; the stream waits at the gate meanwhile
    call tutti_test_on_stream(request, done, options%stream_kind, options%stream)
  end do
  call finish(a, "iallreduce by address")
  call expect(all(seen(:n) == [(total_of(r), r=0, n - 1)]), "iallreduce by address")

  call tutti_scan_init(comm, x(:n), y(:n), tutti_sum, request, options)
  do code = 1, 2
    call begin()
    call tutti_start(request)
    call tutti_wait_on_stream(request, options%stream_kind, options%stream)
    call finish(b, "scan, persistent")
    call expect(seen(2) == sum([(given(r, 1), r=0, rank)]), "scan, persistent")
  end do
  call tutti_request_free(request)

  call sections()
  call allocated()
  call captured()
  call standin_run()
  call tutti_comm_free(comm)
  failures = failures + standin_failed()
  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a)', total, " failures"
  call MPI_Finalize()
  if (total > 0) error stop 1

contains

  integer(int64) function given(of, i)
    integer, intent(in) :: of, i
    given = 1000*(of + 1) + i
  end function given

  integer(int64) function total_of(i)
    integer, intent(in) :: i
    integer :: of
    total_of = sum([(given(of, i), of=0, ranks - 1)])
  end function total_of

  !> The stream stands still, so that nothing but the host could touch the arrays; and the host must not.
  subroutine begin()
    call standin_close()
    call standin_fill(a, int(room, c_size_t), given(rank, 0), 1_c_int64_t)
    call standin_fill(b, int(room, c_size_t), -1_c_int64_t, 0_c_int64_t)
  end subroutine begin

  subroutine finish(from, what)
    type(c_ptr), intent(in) :: from
    character(len=*), intent(in) :: what
    seen = -7
    call standin_copy(c_loc(seen), from, int(room, c_size_t))
    call expect(all(seen == -7), what//" has not run yet")
    call standin_run()
  end subroutine finish

  !> Sections are found to be in device memory, and are refused before anything is sent.
  subroutine sections()
    integer(int64), pointer, contiguous :: managed(:), pinned(:)
    call begin()
    call tutti_allreduce(comm, x(:2*n:2), tutti_sum, options, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "section in device memory")
    call tutti_send(comm, x(n:1:-1), rank, 1, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "section in device memory")
    call tutti_iallreduce(comm, x(:2*n:2), tutti_sum, request, options, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "not contiguous")
    call finish(a, "sections")
    call tutti_allocate(comm, managed, [2*n], memory=tutti_memory_managed)
    call tutti_allocate(comm, pinned, [2*n], memory=tutti_memory_pinned)
    call tutti_bcast(comm, managed(::2), 0, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "section in device memory")
    pinned = rank
    call tutti_bcast(comm, pinned(::2), ranks - 1, options)
    call expect(all(pinned(::2) == ranks - 1) .and. all(pinned(2::2) == rank), "a section of pinned memory is packed")
    call tutti_deallocate(managed)
    call tutti_deallocate(pinned)
  end subroutine sections

  !> A graph that holds one sum of all ranks, launched twice; and a device's memory of this rank alone.
  subroutine captured()
    type(tutti_device_graph) :: graph
    type(work), target :: sum_of_all
    type(c_ptr) :: data
    integer :: kind, launch
    logical :: idle
    call tutti_device_allocate(tutti_memory_device, 64, data)
    call tutti_memory_kind(data, kind)
    call expect(kind == tutti_memory_device, "memory of this rank")
    call tutti_deallocate(data)
    sum_of_all = work(comm, options, a, b, n)
    call tutti_device_graph_capture(options%stream_kind, options%stream, enqueue, c_loc(sum_of_all), graph)
    do launch = 1, 2
      call standin_fill(a, int(room, c_size_t), given(rank, launch), 1_c_int64_t)
      call tutti_device_graph_launch(graph, options%stream_kind, options%stream)
      call tutti_stream_wait(options%stream_kind, options%stream)
      call tutti_stream_is_idle(options%stream_kind, options%stream, idle)
      call standin_copy(c_loc(seen), b, int(room, c_size_t))
      call standin_run()
      call expect(idle .and. seen(n) == total_of(n - 1 + launch), "a graph")
    end do
    call tutti_device_graph_free(graph)
  end subroutine captured

  subroutine allocated()
    integer(int64), pointer, contiguous :: part(:)
    type(c_ptr) :: data
    integer :: kind
    call tutti_allocate(comm, part, [n], memory=tutti_memory_device)
    call tutti_memory_kind(c_loc(part), kind)
    call expect(kind == tutti_memory_device .and. size(part) == n, "an array in device memory")
    call standin_fill(c_loc(part), int(n, c_size_t), given(rank, 0), 1_c_int64_t)
    call tutti_allreduce(comm, part, tutti_sum, options)
    call standin_copy(c_loc(seen), c_loc(part), int(n, c_size_t))
    call standin_run()
    call expect(seen(n) == total_of(n - 1), "allreduce of an array in device memory")
    call tutti_deallocate(part)
    call tutti_allocate(comm, 64, data, memory=tutti_memory_pinned)
    call tutti_memory_kind(data, kind)
    call expect(kind == tutti_memory_pinned, "pinned memory")
    call tutti_deallocate(data)
  end subroutine allocated

end program standin_device
