! SPDX-License-Identifier: BSD-3-Clause
!> Every collective of this kind: blocking, nonblocking, and persistent started thrice, with other data each time.
module varying
  use check
  implicit none
  private
  public :: test_varying

contains

  subroutine test_varying(g)
    type(group), intent(in) :: g
    call gatherv(g)
    call scatterv(g)
    call allgatherv(g)
    call allgatherv_in_place(g)
    call alltoallv(g)
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

end module varying
