! SPDX-License-Identifier: BSD-3-Clause
!> Every collective of this kind: blocking, nonblocking, and persistent started thrice, with other data each time.
module movement
  use check
  implicit none
  private
  public :: test_movement

contains

  subroutine test_movement(g)
    type(group), intent(in) :: g
    call barrier(g)
    call bcast(g)
    call gather(g)
    call scatter(g)
    call allgather(g)
    call allgather_in_place(g)
    call alltoall(g)
    call alltoall_in_place(g)
  end subroutine test_movement

  subroutine barrier(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      sent(1) = iteration
      select case (iteration)
      case (1)
        call tutti_barrier(g%comm)
      case (2)
        call tutti_ibarrier(g%comm, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_barrier_init(g%comm, request)
        call go(request)
      end select
      call expect(sent(1) == iteration, "barrier")
    end do
    call tutti_request_free(request)
  end subroutine barrier

  subroutine bcast(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me, root
    n = g%size
    me = g%rank
    do root = 0, n - 1
      do iteration = 1, iterations
        sent = -1
        received = -1
        received(:block) = some(me, 0, block, iteration)
        select case (iteration)
        case (1)
          call tutti_bcast(g%comm, received(:block), root)
        case (2)
          call tutti_ibcast(g%comm, received(:block), root, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_bcast_init(g%comm, received(:block), root, request)
          call go(request)
        end select
        call expect(all(received(:block) == some(root, 0, block, iteration)) .and. received(block + 1) == -1, "bcast")
      end do
      call tutti_request_free(request)
    end do
  end subroutine bcast

  subroutine gather(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me, root
    integer :: r
    n = g%size
    me = g%rank
    do root = 0, n - 1
      do iteration = 1, iterations
        sent = -1
        received = -1
        sent(:block) = some(me, 0, block, iteration)
        select case (iteration)
        case (1)
          call tutti_gather(g%comm, sent(:block), received(:n*block), root)
        case (2)
          call tutti_igather(g%comm, sent(:block), received(:n*block), root, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_gather_init(g%comm, sent(:block), received(:n*block), root, request)
          call go(request)
        end select
        do r = 0, n - 1
          if (me == root) call expect(all(received(r*block + 1:r*block + block) == some(r, 0, block, iteration)), &
              "gather")
        end do
      end do
      call tutti_request_free(request)
    end do
  end subroutine gather

  subroutine scatter(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me, root
    n = g%size
    me = g%rank
    do root = 0, n - 1
      do iteration = 1, iterations
        sent = -1
        received = -1
        sent(:n*block) = some(me, 0, n*block, iteration)
        select case (iteration)
        case (1)
          call tutti_scatter(g%comm, sent(:n*block), received(:block), root)
        case (2)
          call tutti_iscatter(g%comm, sent(:n*block), received(:block), root, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_scatter_init(g%comm, sent(:n*block), received(:block), root, request)
          call go(request)
        end select
        call expect(all(received(:block) == some(root, me*block, block, iteration)), "scatter")
      end do
      call tutti_request_free(request)
    end do
  end subroutine scatter

  subroutine allgather(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    integer :: r
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      sent(:block) = some(me, 0, block, iteration)
      select case (iteration)
      case (1)
        call tutti_allgather(g%comm, sent(:block), received(:n*block))
      case (2)
        call tutti_iallgather(g%comm, sent(:block), received(:n*block), request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_allgather_init(g%comm, sent(:block), received(:n*block), request)
        call go(request)
      end select
      do r = 0, n - 1
        call expect(all(received(r*block + 1:r*block + block) == some(r, 0, block, iteration)), "allgather")
      end do
    end do
    call tutti_request_free(request)
  end subroutine allgather

  subroutine allgather_in_place(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    integer :: r
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      received(me*block + 1:me*block + block) = some(me, 0, block, iteration)
      select case (iteration)
      case (1)
        call tutti_allgather(g%comm, tutti_in_place, received(:n*block))
      case (2)
        call tutti_iallgather(g%comm, tutti_in_place, received(:n*block), request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_allgather_init(g%comm, tutti_in_place, received(:n*block), request)
        call go(request)
      end select
      do r = 0, n - 1
        call expect(all(received(r*block + 1:r*block + block) == some(r, 0, block, iteration)), "allgather")
      end do
    end do
    call tutti_request_free(request)
  end subroutine allgather_in_place

  subroutine alltoall(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    integer :: r
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      sent(:n*block) = some(me, 0, n*block, iteration)
      select case (iteration)
      case (1)
        call tutti_alltoall(g%comm, sent(:n*block), received(:n*block))
      case (2)
        call tutti_ialltoall(g%comm, sent(:n*block), received(:n*block), request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_alltoall_init(g%comm, sent(:n*block), received(:n*block), request)
        call go(request)
      end select
      do r = 0, n - 1
        call expect(all(received(r*block + 1:r*block + block) == some(r, me*block, block, iteration)), "alltoall")
      end do
    end do
    call tutti_request_free(request)
  end subroutine alltoall

  subroutine alltoall_in_place(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    integer :: r
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      received(:n*block) = some(me, 0, n*block, iteration)
      select case (iteration)
      case (1)
        call tutti_alltoall(g%comm, tutti_in_place, received(:n*block))
      case (2)
        call tutti_ialltoall(g%comm, tutti_in_place, received(:n*block), request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_alltoall_init(g%comm, tutti_in_place, received(:n*block), request)
        call go(request)
      end select
      do r = 0, n - 1
        call expect(all(received(r*block + 1:r*block + block) == some(r, me*block, block, iteration)), "alltoall")
      end do
    end do
    call tutti_request_free(request)
  end subroutine alltoall_in_place

end module movement
