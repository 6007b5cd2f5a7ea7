! SPDX-License-Identifier: BSD-3-Clause
! What Fortran passes otherwise than C: handles, arrays of requests and statuses, logical values, indices from one, and
! constants that are known by their addresses. By mpif.h (PRELOAD_MPIF), mpi_f08 (PRELOAD_F08) or the module mpi.
#ifdef PRELOAD_F08
#define MPI_HANDLE(kind) type(kind)
#define STATUS_OF(name) type(MPI_Status) :: name
#define STATUSES_OF(name, n) type(MPI_Status) :: name(n)
#define SOURCE_OF(status) status%MPI_SOURCE
#define TAG_OF(status) status%MPI_TAG
#else
#define MPI_HANDLE(kind) integer
#define STATUS_OF(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES_OF(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(status) status(MPI_SOURCE)
#define TAG_OF(status) status(MPI_TAG)
#endif
#ifdef PRELOAD_MPIF
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#else
#define INCLUDE_MPI
#ifdef PRELOAD_F08
#define USE_MPI use mpi_f08
#else
#define USE_MPI use mpi
#endif
#endif

module checks
  implicit none
  integer :: wrong = 0
contains
  subroutine expect(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    if (is_right) return
    wrong = wrong + 1
    print '(2a)', 'Error: ', what
  end subroutine expect
end module checks

! in and inout are as C passes them.
#ifdef PRELOAD_F08
subroutine add(in, inout, count, datatype)
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  type(c_ptr), value :: in, inout
  integer :: count
  type(MPI_Datatype) :: datatype
  integer, pointer :: a(:), b(:)
  call c_f_pointer(in, a, [count])
  call c_f_pointer(inout, b, [count])
  b = a + b
end subroutine add
#else
subroutine add(a, b, count, datatype)
  implicit none
  integer :: count, datatype
  integer :: a(count), b(count)
  b = a + b
end subroutine add
#endif

program preload_fortran_forms
  USE_MPI
  use checks
  implicit none
  INCLUDE_MPI
#ifdef PRELOAD_F08
  procedure(MPI_User_function) :: add
#else
  external :: add
#endif
  integer :: rank, ranks, ierr, provided, below, above, first

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  below = mod(rank + ranks - 1, ranks)
  above = mod(rank + 1, ranks)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call find_first

  call check_blocking
  call check_blocks
  call check_bottom
  call check_wait
  call check_some
  call check_test
  call check_messages
  call check_persistent
  call check_freed
  call check_topologies
  call check_communicators
  call check_errors

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. wrong == 0) print '(a)', 'all forms are right'
  call MPI_Finalize(ierr)
  if (wrong /= 0) error stop 1
contains

  subroutine check_blocking
    integer :: own, total, all_of(ranks), counts(ranks)
    own = rank + 1
    call MPI_Reduce(own, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) call expect(total == ranks * (ranks + 1) / 2, 'reduce')
    total = own
    if (rank == 0) call MPI_Reduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank /= 0) call MPI_Reduce(own, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) call expect(total == ranks * (ranks + 1) / 2, 'reduce in place')
    total = own
    call MPI_Scan(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(total == own * (own + 1) / 2, 'scan in place')
    call MPI_Exscan(own, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank > 0) call expect(total == rank * own / 2, 'exscan')
    all_of = own
    call MPI_Reduce_scatter_block(all_of, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(total == ranks * (ranks + 1) / 2, 'reduce_scatter_block')
    counts = 1
    call MPI_Reduce_scatter(all_of, total, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(total == ranks * (ranks + 1) / 2, 'reduce_scatter')
  end subroutine check_blocking

  ! Blocks of each rank; gather and scatter of the last one.
  subroutine check_blocks
    integer :: own, blocks(ranks), others(ranks), counts(ranks), places(ranks), i
    MPI_HANDLE(MPI_Datatype) :: types(ranks)
    counts = 1
    places = [(i, i = ranks - 1, 0, -1)]
    types = MPI_INTEGER
    own = 10 + rank
    blocks = -1
    if (rank == ranks - 1) then
      blocks(ranks) = own
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, blocks, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierr)
      call expect(all(blocks == [(10 + i, i = 0, ranks - 1)]), 'gather')
      call MPI_Scatter(blocks, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierr)
    else
      call MPI_Gather(own, 1, MPI_INTEGER, blocks, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierr)
      own = -1
      call MPI_Scatter(blocks, 1, MPI_INTEGER, own, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierr)
    end if
    call expect(own == 10 + rank, 'scatter')
    call MPI_Gatherv(own, 1, MPI_INTEGER, blocks, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) call expect(all(blocks == [(10 + i, i = ranks - 1, 0, -1)]), 'gatherv')
    call MPI_Scatterv(blocks, counts, places, MPI_INTEGER, own, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call expect(own == 10 + rank, 'scatterv')
    blocks = -1
    blocks(rank + 1) = own
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, blocks, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(blocks == [(10 + i, i = 0, ranks - 1)]), 'allgather')
    call MPI_Allgatherv(own, 1, MPI_INTEGER, blocks, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(blocks == [(10 + i, i = ranks - 1, 0, -1)]), 'allgatherv')
    blocks = [(100 * rank + i, i = 0, ranks - 1)]
    call MPI_Alltoall(blocks, 1, MPI_INTEGER, others, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(others == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoall')
    call MPI_Alltoallv(blocks, counts, places, MPI_INTEGER, others, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(others == [(100 * i + ranks - 1 - rank, i = ranks - 1, 0, -1)]), 'alltoallv')
    places = 4 * places
    others = -1
    call MPI_Alltoallw(blocks, counts, places, types, others, counts, places, types, MPI_COMM_WORLD, ierr)
    call expect(all(others == [(100 * i + ranks - 1 - rank, i = ranks - 1, 0, -1)]), 'alltoallw')
    call MPI_Alltoallw(MPI_IN_PLACE, counts, places, types, others, counts, places, types, MPI_COMM_WORLD, ierr)
    call expect(all(others == [(100 * rank + ranks - 1 - i, i = ranks - 1, 0, -1)]), 'alltoallw in place')
  end subroutine check_blocks

  subroutine check_bottom
    integer, asynchronous, target :: first(3), second(2)
    integer(MPI_ADDRESS_KIND) :: places(2)
    MPI_HANDLE(MPI_Datatype) :: both
    first = merge([1, 2, 3], [0, 0, 0], rank == 0)
    second = merge([4, 5], [0, 0], rank == 0)
    call MPI_Get_address(first, places(1), ierr)
    call MPI_Get_address(second, places(2), ierr)
    call MPI_Type_create_hindexed(2, [3, 2], places, MPI_INTEGER, both, ierr)
    call MPI_Type_commit(both, ierr)
    call MPI_Bcast(MPI_BOTTOM, 1, both, 0, MPI_COMM_WORLD, ierr)
    call MPI_Type_free(both, ierr)
    call expect(all(first == [1, 2, 3]) .and. all(second == [4, 5]), 'bcast of MPI_BOTTOM')
  end subroutine check_bottom

  ! The index of the first request: 1, but 0 with MPICH 4.0.2's mpi_f08, also of messages.
  subroutine find_first
    MPI_HANDLE(MPI_Request) :: request(1)
    call MPI_Isend(rank, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request(1), ierr)
    call MPI_Waitany(1, request, first, MPI_STATUS_IGNORE, ierr)
  end subroutine find_first

  ! A message to the next rank, two collectives and no request, in one array.
  subroutine begin(requests, word, total, received)
    MPI_HANDLE(MPI_Request), intent(out) :: requests(4)
    integer, asynchronous, intent(inout) :: word, total, received
    word = merge(7, 0, rank == 0)
    total = rank
    received = -1
    call MPI_Irecv(received, 1, MPI_INTEGER, below, 3, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Ibcast(word, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2), ierr)
    requests(3) = MPI_REQUEST_NULL
    call MPI_Iallreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, requests(4), ierr)
    call MPI_Send(rank, 1, MPI_INTEGER, above, 3, MPI_COMM_WORLD, ierr)
  end subroutine begin

  logical function are_right(requests, word, total, received)
    MPI_HANDLE(MPI_Request), intent(in) :: requests(4)
    integer, intent(in) :: word, total, received
    integer :: i
    are_right = word == 7 .and. total == ranks - 1 .and. received == below
    do i = 1, 4
      are_right = are_right .and. requests(i) == MPI_REQUEST_NULL
    end do
  end function are_right

  subroutine check_wait
    MPI_HANDLE(MPI_Request) :: requests(4)
    integer, asynchronous :: word, total, received
    STATUSES_OF(statuses, 4)
    STATUS_OF(status)
    integer :: index, i
    logical :: seen(4)
    call begin(requests, word, total, received)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
    call expect(are_right(requests, word, total, received), 'waitall')
    call begin(requests, word, total, received)
    call MPI_Waitall(4, requests, statuses, ierr)
    call expect(are_right(requests, word, total, received), 'waitall with statuses')
#ifdef PRELOAD_F08
    call expect(statuses(1)%MPI_SOURCE == below .and. statuses(1)%MPI_TAG == 3, 'status of waitall')
#else
    call expect(statuses(MPI_SOURCE, 1) == below .and. statuses(MPI_TAG, 1) == 3, 'status of waitall')
#endif
    call begin(requests, word, total, received)
    seen = .false.
    do i = 1, 3
      call MPI_Waitany(4, requests, index, status, ierr)
      index = index + 1 - first
      if (index == 1) call expect(SOURCE_OF(status) == below .and. TAG_OF(status) == 3, 'status of waitany')
      if (index >= 1 .and. index <= 4) seen(index) = .true.
    end do
    call expect(all(seen .eqv. [.true., .true., .false., .true.]), 'indices of waitany')
    call expect(are_right(requests, word, total, received), 'waitany')
  end subroutine check_wait

  subroutine check_some
    MPI_HANDLE(MPI_Request) :: requests(4)
    integer, asynchronous :: word, total, received
    STATUSES_OF(statuses, 4)
    integer :: number, done, indices(4)
    logical :: seen(4)
    call begin(requests, word, total, received)
    seen = .false.
    done = 0
    do while (done < 3)
      call MPI_Waitsome(4, requests, number, indices, statuses, ierr)
      seen(indices(1:number) + 1 - first) = .true.
      done = done + number
    end do
    call expect(done == 3 .and. all(seen .eqv. [.true., .true., .false., .true.]), 'indices of waitsome')
    call expect(are_right(requests, word, total, received), 'waitsome')
    call MPI_Waitsome(4, requests, number, indices, MPI_STATUSES_IGNORE, ierr)
    call expect(number == MPI_UNDEFINED, 'waitsome without requests')
    call begin(requests, word, total, received)
    seen = .false.
    done = 0
    do while (done < 3)
      call MPI_Testsome(4, requests, number, indices, MPI_STATUSES_IGNORE, ierr)
      seen(indices(1:number) + 1 - first) = .true.
      done = done + number
    end do
    call expect(done == 3 .and. all(seen .eqv. [.true., .true., .false., .true.]), 'indices of testsome')
    call expect(are_right(requests, word, total, received), 'testsome')
  end subroutine check_some

  subroutine check_test
    MPI_HANDLE(MPI_Request) :: requests(4)
    integer, asynchronous :: word, total, received
    STATUS_OF(status)
    integer :: index, i
    logical :: is_done
    call begin(requests, word, total, received)
    is_done = .false.
    do while (.not. is_done)
      call MPI_Testall(4, requests, is_done, MPI_STATUSES_IGNORE, ierr)
    end do
    call expect(are_right(requests, word, total, received), 'testall')
    call begin(requests, word, total, received)
    do i = 1, 3
      is_done = .false.
      do while (.not. is_done)
        call MPI_Testany(4, requests, index, is_done, MPI_STATUS_IGNORE, ierr)
      end do
      call expect(any(index + 1 - first == [1, 2, 4]), 'index of testany')
    end do
    call expect(are_right(requests, word, total, received), 'testany')
    call begin(requests, word, total, received)
    do i = 4, 1, -1
      is_done = .false.
      do while (.not. is_done)
        call MPI_Request_get_status(requests(i), is_done, status, ierr)
      end do
      if (i == 1) call expect(SOURCE_OF(status) == below, 'status of request_get_status')
      is_done = .false.
      do while (.not. is_done)
        call MPI_Test(requests(i), is_done, status, ierr)
      end do
      if (i == 1) call expect(TAG_OF(status) == 3, 'status of test')
    end do
    call expect(are_right(requests, word, total, received), 'test')
  end subroutine check_test

  subroutine check_messages
    integer :: sent, received
    MPI_HANDLE(MPI_Message) :: message
    MPI_HANDLE(MPI_Request) :: request
    STATUS_OF(status)
    logical :: is_there
    sent = 40 + rank
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, above, 1, received, 1, MPI_INTEGER, below, 1, MPI_COMM_WORLD, status, ierr)
    call expect(received == 40 + below .and. SOURCE_OF(status) == below, 'sendrecv')
    call MPI_Sendrecv_replace(sent, 1, MPI_INTEGER, above, 2, below, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(sent == 40 + below, 'sendrecv_replace')
    sent = 50 + rank
    call MPI_Issend(sent, 1, MPI_INTEGER, above, 4, MPI_COMM_WORLD, request, ierr)
    call MPI_Probe(below, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
    call expect(TAG_OF(status) == 4, 'probe')
    is_there = .false.
    do while (.not. is_there)
      call MPI_Improbe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, is_there, message, status, ierr)
    end do
    call MPI_Mrecv(received, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierr)
    call expect(received == 50 + below .and. SOURCE_OF(status) == below, 'improbe')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Isend(sent, 1, MPI_INTEGER, above, 5, MPI_COMM_WORLD, request, ierr)
    call MPI_Mprobe(below, 5, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, ierr)
    call MPI_Mrecv(received, 1, MPI_INTEGER, message, status, ierr)
    call expect(received == 50 + below .and. TAG_OF(status) == 5, 'mprobe')
    call MPI_Wait(request, status, ierr)
    call MPI_Irecv(received, 1, MPI_INTEGER, below, 6, MPI_COMM_WORLD, request, ierr)
    call MPI_Cancel(request, ierr)
    call MPI_Wait(request, status, ierr)
    call MPI_Test_cancelled(status, is_there, ierr)
    call expect(is_there, 'cancel')
  end subroutine check_messages

  subroutine check_persistent
    MPI_HANDLE(MPI_Request) :: requests(3)
    integer, asynchronous :: sent, received, total, own
    integer :: i, number
    call MPI_Send_init(sent, 1, MPI_INTEGER, above, 8, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Recv_init(received, 1, MPI_INTEGER, below, 8, MPI_COMM_WORLD, requests(2), ierr)
    number = 2
#ifdef PRELOAD_PERSISTENT
    call MPI_Allreduce_init(own, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(3), ierr)
    number = 3
#endif
    do i = 1, 3
      sent = 10 * i + rank
      own = i
      received = -1
      call MPI_Startall(number, requests, ierr)
      call MPI_Waitall(number, requests, MPI_STATUSES_IGNORE, ierr)
      call expect(received == 10 * i + below, 'startall')
      if (number == 3) call expect(total == ranks * i, 'allreduce_init')
    end do
    do i = 1, number
      call MPI_Request_free(requests(i), ierr)
      call expect(requests(i) == MPI_REQUEST_NULL, 'request_free')
    end do
  end subroutine check_persistent

  ! Operations, datatypes and communicators that are freed before the wait.
  subroutine check_freed
    integer, asynchronous :: own(2), total(2), all_of(2 * ranks)
    MPI_HANDLE(MPI_Op) :: op
    MPI_HANDLE(MPI_Datatype) :: pair
    MPI_HANDLE(MPI_Comm) :: copy
    MPI_HANDLE(MPI_Request) :: requests(2)
    integer :: i
    call MPI_Op_create(add, .true., op, ierr)
    call MPI_Type_indexed(2, [1, 1], [1, 0], MPI_INTEGER, pair, ierr)
    call MPI_Type_commit(pair, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Barrier(copy, ierr)
    own = [rank, 1]
    call MPI_Iallreduce(own, total, 2, MPI_INTEGER, op, copy, requests(1), ierr)
    call MPI_Iallgather(own, 1, pair, all_of, 1, pair, copy, requests(2), ierr)
    call MPI_Op_free(op, ierr)
    call MPI_Type_free(pair, ierr)
    call MPI_Comm_free(copy, ierr)
    call expect(op == MPI_OP_NULL .and. copy == MPI_COMM_NULL, 'freed handles')
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call expect(all(total == [ranks * (ranks - 1) / 2, ranks]), 'operation of the program')
    call expect(all(all_of(1::2) == [(i, i = 0, ranks - 1)]) .and. all(all_of(2::2) == 1), 'datatype of the program')
  end subroutine check_freed

  subroutine check_topologies
    MPI_HANDLE(MPI_Comm) :: grid, line, graph, ring
    MPI_HANDLE(MPI_Datatype) :: types(2)
    MPI_HANDLE(MPI_Request) :: request
    integer(MPI_ADDRESS_KIND) :: places(2)
    integer, asynchronous :: sent(2), received(2)
    integer :: dims(2), coords(2), size, i
    logical :: periods(2)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, [1, ranks], [.false., .true.], .false., grid, ierr)
    call MPI_Cart_get(grid, 2, dims, periods, coords, ierr)
    call expect(all(periods .eqv. [.false., .true.]), 'periods of cart_create')
    call MPI_Cart_sub(grid, [.true., .false.], line, ierr)
    call MPI_Comm_size(line, size, ierr)
    call expect(size == 1, 'cart_sub')
    call MPI_Comm_free(line, ierr)
    call MPI_Cart_sub(grid, [.false., .true.], line, ierr)
    sent = 10 * rank + [1, 2]
    received = -1
    call MPI_Neighbor_alltoall(sent, 1, MPI_INTEGER, received, 1, MPI_INTEGER, line, ierr)
    call expect(all(received == [10 * below + 2, 10 * above + 1]), 'neighbor_alltoall')
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, received, 1, MPI_INTEGER, line, ierr)
    call expect(all(received == [below, above]), 'neighbor_allgather')
    call MPI_Neighbor_allgatherv(rank, 1, MPI_INTEGER, received, [1, 1], [1, 0], MPI_INTEGER, line, ierr)
    call expect(all(received == [above, below]), 'neighbor_allgatherv')
    call MPI_Comm_free(line, ierr)
    call MPI_Comm_free(grid, ierr)

    call MPI_Graph_create(MPI_COMM_WORLD, ranks, [(i, i = 1, ranks)], [(mod(i + 1, ranks), i = 0, ranks - 1)], .false., &
      graph, ierr)
    call MPI_Graphdims_get(graph, dims(1), dims(2), ierr)
    call expect(all(dims == ranks), 'graph_create')
    call MPI_Comm_free(graph, ierr)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [below], MPI_UNWEIGHTED, 1, [above], MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .false., ring, ierr)
    call MPI_Dist_graph_neighbors_count(ring, dims(1), dims(2), periods(1), ierr)
    call expect(all(dims == 1) .and. .not. periods(1), 'dist_graph_create_adjacent')
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, received, 1, MPI_INTEGER, ring, ierr)
    call expect(received(1) == below, 'neighbor_allgather of a ring')
    call MPI_Comm_free(ring, ierr)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [above], [3], MPI_INFO_NULL, .false., ring, ierr)
    call MPI_Dist_graph_neighbors_count(ring, dims(1), dims(2), periods(1), ierr)
    call expect(all(dims == 1) .and. periods(1), 'dist_graph_create')
    call MPI_Comm_free(ring, ierr)
    ! Of a distributed graph: MPICH 4.0.2's mpi_f08 takes every topology for one here.
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, [below, above], MPI_UNWEIGHTED, 2, [below, above], &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierr)
    types = MPI_INTEGER
    places = [0, 4]
    received = -1
    call MPI_Ineighbor_alltoallw(sent, [1, 1], places, types, received, [1, 1], places, types, ring, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(all(received == [10 * below + 2, 10 * above + 1]), 'ineighbor_alltoallw')
    call MPI_Comm_free(ring, ierr)
  end subroutine check_topologies

  subroutine check_communicators
    MPI_HANDLE(MPI_Comm) :: half, merged, inter, part
    MPI_HANDLE(MPI_Group) :: group
    MPI_HANDLE(MPI_Request) :: request
    integer :: size, total, leader
    leader = ranks - 1 - merge(1, 0, mod(ranks - 1, 2) == mod(rank, 2))
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
    call MPI_Comm_size(half, size, ierr)
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, half, ierr)
    call expect(total == size .and. size == (ranks + 1 - mod(rank, 2)) / 2, 'comm_split')
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, 9, inter, ierr)
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, inter, ierr)
    call expect(total == ranks - size, 'allreduce of an intercommunicator')
    call MPI_Intercomm_merge(inter, mod(rank, 2) == 1, merged, ierr)
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, merged, ierr)
    call expect(total == ranks, 'intercomm_merge')
    call MPI_Comm_free(merged, ierr)
    call MPI_Comm_disconnect(inter, ierr)
    call MPI_Comm_free(half, ierr)
    call MPI_Comm_idup(MPI_COMM_WORLD, part, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, part, ierr)
    call expect(total == ranks, 'comm_idup')
    call MPI_Comm_free(part, ierr)
    call MPI_Comm_group(MPI_COMM_WORLD, group, ierr)
    call MPI_Comm_create(MPI_COMM_WORLD, group, part, ierr)
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, part, ierr)
    call expect(total == ranks, 'comm_create')
    call MPI_Comm_free(part, ierr)
    call MPI_Comm_create_group(MPI_COMM_WORLD, group, 11, part, ierr)
    call MPI_Barrier(part, ierr)
    call MPI_Comm_free(part, ierr)
    call MPI_Group_free(group, ierr)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, part, ierr)
    call MPI_Barrier(part, ierr)
    call expect(ierr == MPI_SUCCESS, 'comm_split_type')
    call MPI_Comm_free(part, ierr)
  end subroutine check_communicators

  subroutine check_errors
    MPI_HANDLE(MPI_Comm) :: copy
    integer :: word, code, class
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, copy, ierr)
    call MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN, ierr)
    call MPI_Bcast(word, -1, MPI_INTEGER, 0, copy, code)
    call MPI_Error_class(code, class, ierr)
    call expect(class == MPI_ERR_COUNT, 'class of an error')
    call MPI_Comm_free(copy, ierr)
  end subroutine check_errors

end program preload_fortran_forms
