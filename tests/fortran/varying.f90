! SPDX-License-Identifier: BSD-3-Clause
!> Every collective of this kind: blocking, nonblocking, and persistent started thrice, with other data each time.
module varying
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32
  use check
  implicit none
  private
  public :: test_varying

  interface
    function map_memory(address, bytes, rights, flags, file, offset) bind(C, name="mmap")
      import
      type(c_ptr), value :: address
      integer(c_size_t), value :: bytes, offset
      integer(c_int), value :: rights, flags, file
      type(c_ptr) :: map_memory
    end function map_memory
    integer(c_int) function unmap_memory(address, bytes) bind(C, name="munmap")
      import
      type(c_ptr), value :: address
      integer(c_size_t), value :: bytes
    end function unmap_memory
  end interface

contains

  subroutine test_varying(g)
    type(group), intent(in) :: g
    call gatherv(g)
    call scatterv(g)
    call allgatherv(g)
    call allgatherv_in_place(g)
    call alltoallv(g)
    call far_places(g)
  end subroutine test_varying

  subroutine gatherv(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me, root
    integer :: r
    integer :: counts(g%size), displs(g%size)
    n = g%size
    me = g%rank
    counts = count_of([(r, r=0, n - 1)])
    displs = place_of([(r, r=0, n - 1)])
    do root = 0, n - 1
      do iteration = 1, iterations
        sent = -1
        received = -1
        sent(:me + 1) = some(me, 0, me + 1, iteration)
        select case (iteration)
        case (1)
          call tutti_gatherv(g%comm, sent(:me + 1), received, counts, displs, root)
        case (2)
          call tutti_igatherv(g%comm, sent(:me + 1), received, counts, displs, root, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_gatherv_init(g%comm, sent(:me + 1), received, counts, displs, root, request)
          call go(request)
        end select
        do r = 0, n - 1
          if (me == root) call expect(all(received(displs(r + 1) + 1:displs(r + 1) + counts(r + 1)) == some(r, 0, &
              r + 1, iteration)), "gatherv")
        end do
      end do
      call tutti_request_free(request)
    end do
  end subroutine gatherv

  subroutine scatterv(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me, root
    integer :: r
    integer(int64) :: counts(g%size), displs(g%size)
    n = g%size
    me = g%rank
    counts = count_of([(r, r=0, n - 1)])
    displs = place_of([(r, r=0, n - 1)])
    do root = 0, n - 1
      do iteration = 1, iterations
        sent = -1
        received = -1
        sent = some(me, 0, most, iteration)
        select case (iteration)
        case (1)
          call tutti_scatterv(g%comm, sent, counts, displs, received(:me + 1), root)
        case (2)
          call tutti_iscatterv(g%comm, sent, counts, displs, received(:me + 1), root, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_scatterv_init(g%comm, sent, counts, displs, received(:me + 1), root, request)
          call go(request)
        end select
        call expect(all(received(:me + 1) == some(root, place_of(me), me + 1, &
            iteration)) .and. received(me + 2) == -1, &
            "scatterv")
      end do
      call tutti_request_free(request)
    end do
  end subroutine scatterv

  subroutine allgatherv(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    integer :: r
    integer(int64) :: counts(g%size), displs(g%size)
    n = g%size
    me = g%rank
    counts = count_of([(r, r=0, n - 1)])
    displs = place_of([(r, r=0, n - 1)])
    do iteration = 1, iterations
      sent = -1
      received = -1
      sent(:me + 1) = some(me, 0, me + 1, iteration)
      select case (iteration)
      case (1)
        call tutti_allgatherv(g%comm, sent(:me + 1), received, counts, displs)
      case (2)
        call tutti_iallgatherv(g%comm, sent(:me + 1), received, counts, displs, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_allgatherv_init(g%comm, sent(:me + 1), received, counts, displs, request)
        call go(request)
      end select
      do r = 0, n - 1
        call expect(all(received(displs(r + 1) + 1:displs(r + 1) + counts(r + 1)) == some(r, 0, r + 1, iteration)), &
            "allgatherv")
      end do
    end do
    call tutti_request_free(request)
  end subroutine allgatherv

  subroutine allgatherv_in_place(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    integer :: r
    integer(int64) :: counts(g%size), displs(g%size)
    n = g%size
    me = g%rank
    counts = count_of([(r, r=0, n - 1)])
    displs = place_of([(r, r=0, n - 1)])
    do iteration = 1, iterations
      sent = -1
      received = -1
      received(place_of(me) + 1:place_of(me) + me + 1) = some(me, 0, me + 1, iteration)
      select case (iteration)
      case (1)
        call tutti_allgatherv(g%comm, tutti_in_place, received, counts, displs)
      case (2)
        call tutti_iallgatherv(g%comm, tutti_in_place, received, counts, displs, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_allgatherv_init(g%comm, tutti_in_place, received, counts, displs, request)
        call go(request)
      end select
      do r = 0, n - 1
        call expect(all(received(displs(r + 1) + 1:displs(r + 1) + counts(r + 1)) == some(r, 0, r + 1, iteration)), &
            "allgatherv")
      end do
    end do
    call tutti_request_free(request)
  end subroutine allgatherv_in_place

  subroutine alltoallv(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    integer :: r
    integer :: counts(g%size), displs(g%size), places(g%size)
    n = g%size
    me = g%rank
    counts = [(mod(me + r, 3), r=0, n - 1)]
    displs = [(4*r, r=0, n - 1)]
    places = [(5*(n - 1 - r), r=0, n - 1)]
    do iteration = 1, iterations
      sent = -1
      received = -1
      do r = 0, n - 1
        sent(4*r + 1:4*r + counts(r + 1)) = some(me, 10*r, counts(r + 1), iteration)
      end do
      select case (iteration)
      case (1)
        call tutti_alltoallv(g%comm, sent, counts, displs, received, counts, places)
      case (2)
        call tutti_ialltoallv(g%comm, sent, counts, displs, received, counts, places, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_alltoallv_init(g%comm, sent, counts, displs, received, counts, places, request)
        call go(request)
      end select
      do r = 0, n - 1
        call expect(all(received(places(r + 1) + 1:places(r + 1) + counts(r + 1)) == some(r, 10*me, counts(r + 1), &
            iteration)), "alltoallv")
      end do
    end do
    call tutti_request_free(request)
  end subroutine alltoallv

  !> Blocks whose places in bytes no default integer holds, and one whose place in elements is the greatest of 4 bytes,
  !> in memory of which the system gives what is touched.
  subroutine far_places(g)
    type(group), intent(in) :: g
    integer(c_int), parameter :: reads_and_writes = 3, private_without_memory = int(z'4022', c_int)  ! of Linux
    integer(c_size_t), parameter :: elements = 2_c_size_t**31 + 8
    integer(int64), pointer, contiguous, asynchronous :: received(:)
    integer(int64), asynchronous :: sent(1)
    type(tutti_request) :: request
    type(c_ptr) :: memory
    integer :: iteration, r, there, counts(g%size), displs(g%size)
    memory = map_memory(c_null_ptr, 8*elements, reads_and_writes, private_without_memory, -1_c_int, 0_c_size_t)
    there = merge(0, 1, transfer(memory, 0_c_intptr_t) == -1)
    call tutti_allreduce(g%comm, there, tutti_min)
    if (there == 0) return
    call c_f_pointer(memory, received, [elements])
    counts = 1
    displs = [(huge(0_int32)/(2*r + 1), r=0, g%size - 1)]
    do iteration = 1, iterations
      sent = some(g%rank, 0, 1, iteration)
      select case (iteration)
      case (1)
        call tutti_allgatherv(g%comm, sent, received, counts, displs)
      case (2)
        call tutti_iallgatherv(g%comm, sent, received, counts, displs, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_allgatherv_init(g%comm, sent, received, counts, displs, request)
        call go(request)
      end select
      do r = 0, g%size - 1
        call expect(received(displs(r + 1) + 1_int64) == held(r, 1, iteration), "far places")
      end do
    end do
    call tutti_request_free(request)
    call expect(unmap_memory(memory, 8*elements) == 0, "memory")
  end subroutine far_places

end module varying
