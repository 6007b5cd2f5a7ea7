! SPDX-License-Identifier: BSD-3-Clause
!> Every collective of this kind: blocking, nonblocking, and persistent started thrice, with other data each time.
module reductions
  use check
  implicit none
  private
  public :: test_reductions

contains

  subroutine test_reductions(g)
    type(group), intent(in) :: g
    call reduce(g)
    call reduce_in_place(g)
    call allreduce(g)
    call allreduce_in_place(g)
    call scan(g)
    call scan_in_place(g)
    call exscan(g)
    call exscan_in_place(g)
    call reduce_scatter_block(g)
    call reduce_scatter_block_in_place(g)
    call reduce_scatter(g)
    call reduce_scatter_in_place(g)
  end subroutine test_reductions

  subroutine reduce(g)
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
        sent(:block) = some(me, 0, block, iteration)
        select case (iteration)
        case (1)
          call tutti_reduce(g%comm, sent(:block), received(:block), tutti_sum, root)
        case (2)
          call tutti_ireduce(g%comm, sent(:block), received(:block), tutti_sum, root, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_reduce_init(g%comm, sent(:block), received(:block), tutti_sum, root, request)
          call go(request)
        end select
        if (me == root) call expect(all(received(:block) == sums(0, n - 1, 0, block, &
            iteration)) .and. received(block + 1) == -1 , &
                "reduce")
      end do
      call tutti_request_free(request)
    end do
  end subroutine reduce

  subroutine reduce_in_place(g)
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
          call tutti_reduce(g%comm, received(:block), tutti_sum, root)
        case (2)
          call tutti_ireduce(g%comm, received(:block), tutti_sum, root, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_reduce_init(g%comm, received(:block), tutti_sum, root, request)
          call go(request)
        end select
        if (me == root) call expect(all(received(:block) == sums(0, n - 1, 0, block, &
            iteration)) .and. received(block + 1) == -1 , &
                "reduce")
      end do
      call tutti_request_free(request)
    end do
  end subroutine reduce_in_place

  subroutine allreduce(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      sent(:block) = some(me, 0, block, iteration)
      select case (iteration)
      case (1)
        call tutti_allreduce(g%comm, sent(:block), received(:block), tutti_sum)
      case (2)
        call tutti_iallreduce(g%comm, sent(:block), received(:block), tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_allreduce_init(g%comm, sent(:block), received(:block), tutti_sum, request)
        call go(request)
      end select
      call expect(all(received(:block) == sums(0, n - 1, 0, block, iteration)) .and. received(block + 1) == -1, &
          "allreduce")
    end do
    call tutti_request_free(request)
  end subroutine allreduce

  subroutine allreduce_in_place(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      received(:block) = some(me, 0, block, iteration)
      select case (iteration)
      case (1)
        call tutti_allreduce(g%comm, received(:block), tutti_sum)
      case (2)
        call tutti_iallreduce(g%comm, received(:block), tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_allreduce_init(g%comm, received(:block), tutti_sum, request)
        call go(request)
      end select
      call expect(all(received(:block) == sums(0, n - 1, 0, block, iteration)) .and. received(block + 1) == -1, &
          "allreduce")
    end do
    call tutti_request_free(request)
  end subroutine allreduce_in_place

  subroutine scan(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      sent(:block) = some(me, 0, block, iteration)
      select case (iteration)
      case (1)
        call tutti_scan(g%comm, sent(:block), received(:block), tutti_sum)
      case (2)
        call tutti_iscan(g%comm, sent(:block), received(:block), tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_scan_init(g%comm, sent(:block), received(:block), tutti_sum, request)
        call go(request)
      end select
      call expect(all(received(:block) == sums(0, me, 0, block, iteration)) .and. received(block + 1) == -1, "scan")
    end do
    call tutti_request_free(request)
  end subroutine scan

  subroutine scan_in_place(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      received(:block) = some(me, 0, block, iteration)
      select case (iteration)
      case (1)
        call tutti_scan(g%comm, received(:block), tutti_sum)
      case (2)
        call tutti_iscan(g%comm, received(:block), tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_scan_init(g%comm, received(:block), tutti_sum, request)
        call go(request)
      end select
      call expect(all(received(:block) == sums(0, me, 0, block, iteration)) .and. received(block + 1) == -1, "scan")
    end do
    call tutti_request_free(request)
  end subroutine scan_in_place

  subroutine exscan(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      sent(:block) = some(me, 0, block, iteration)
      select case (iteration)
      case (1)
        call tutti_exscan(g%comm, sent(:block), received(:block), tutti_sum)
      case (2)
        call tutti_iexscan(g%comm, sent(:block), received(:block), tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_exscan_init(g%comm, sent(:block), received(:block), tutti_sum, request)
        call go(request)
      end select
      if (me > 0) call expect(all(received(:block) == sums(0, me - 1, 0, block, &
          iteration)) .and. received(block + 1) == -1 , &
              "exscan")
    end do
    call tutti_request_free(request)
  end subroutine exscan

  subroutine exscan_in_place(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      received(:block) = some(me, 0, block, iteration)
      select case (iteration)
      case (1)
        call tutti_exscan(g%comm, received(:block), tutti_sum)
      case (2)
        call tutti_iexscan(g%comm, received(:block), tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_exscan_init(g%comm, received(:block), tutti_sum, request)
        call go(request)
      end select
      if (me > 0) call expect(all(received(:block) == sums(0, me - 1, 0, block, &
          iteration)) .and. received(block + 1) == -1 , &
              "exscan")
    end do
    call tutti_request_free(request)
  end subroutine exscan_in_place

  subroutine reduce_scatter_block(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      sent(:n*block) = some(me, 0, n*block, iteration)
      select case (iteration)
      case (1)
        call tutti_reduce_scatter_block(g%comm, sent(:n*block), received(:block), tutti_sum)
      case (2)
        call tutti_ireduce_scatter_block(g%comm, sent(:n*block), received(:block), tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_reduce_scatter_block_init(g%comm, sent(:n*block), received(:block), &
            tutti_sum, request)
        call go(request)
      end select
      call expect(all(received(:block) == sums(0, n - 1, me*block, block, iteration)), "reduce_scatter_block")
    end do
    call tutti_request_free(request)
  end subroutine reduce_scatter_block

  subroutine reduce_scatter_block_in_place(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    n = g%size
    me = g%rank
    do iteration = 1, iterations
      sent = -1
      received = -1
      received(:n*block) = some(me, 0, n*block, iteration)
      select case (iteration)
      case (1)
        call tutti_reduce_scatter_block(g%comm, tutti_in_place, received(:n*block), tutti_sum)
      case (2)
        call tutti_ireduce_scatter_block(g%comm, tutti_in_place, received(:n*block), tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_reduce_scatter_block_init(g%comm, tutti_in_place, received(:n*block), &
            tutti_sum, request)
        call go(request)
      end select
      call expect(all(received(:block) == sums(0, n - 1, me*block, block, iteration)), "reduce_scatter_block")
    end do
    call tutti_request_free(request)
  end subroutine reduce_scatter_block_in_place

  subroutine reduce_scatter(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    integer :: counts(g%size), r
    n = g%size
    me = g%rank
    counts = count_of([(r, r=0, n - 1)])
    do iteration = 1, iterations
      sent = -1
      received = -1
      sent(:sum(counts)) = some(me, 0, sum(counts), iteration)
      select case (iteration)
      case (1)
        call tutti_reduce_scatter(g%comm, sent(:sum(counts)), received(:counts(me + 1)), counts, tutti_sum)
      case (2)
        call tutti_ireduce_scatter(g%comm, sent(:sum(counts)), received(:counts(me + 1)), counts, tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_reduce_scatter_init(g%comm, sent(:sum(counts)), received(:counts(me + 1)), &
            counts, tutti_sum, request)
        call go(request)
      end select
      call expect(all(received(:me + 1) == sums(0, n - 1, sum(counts(:me)), me + 1, iteration)), "reduce_scatter")
    end do
    call tutti_request_free(request)
  end subroutine reduce_scatter

  subroutine reduce_scatter_in_place(g)
    type(group), intent(in) :: g
    integer(int64), asynchronous :: sent(most), received(most)
    type(tutti_request) :: request
    integer :: iteration, n, me
    integer :: counts(g%size), r
    n = g%size
    me = g%rank
    counts = count_of([(r, r=0, n - 1)])
    do iteration = 1, iterations
      sent = -1
      received = -1
      received(:sum(counts)) = some(me, 0, sum(counts), iteration)
      select case (iteration)
      case (1)
        call tutti_reduce_scatter(g%comm, tutti_in_place, received(:sum(counts)), counts, tutti_sum)
      case (2)
        call tutti_ireduce_scatter(g%comm, tutti_in_place, received(:sum(counts)), counts, tutti_sum, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_reduce_scatter_init(g%comm, tutti_in_place, received(:sum(counts)), counts, &
            tutti_sum, request)
        call go(request)
      end select
      call expect(all(received(:me + 1) == sums(0, n - 1, sum(counts(:me)), me + 1, iteration)), "reduce_scatter")
    end do
    call tutti_request_free(request)
  end subroutine reduce_scatter_in_place

end module reductions
