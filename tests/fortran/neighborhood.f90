! SPDX-License-Identifier: BSD-3-Clause
!> Neighborhood collectives on a grid of all ranks in a periodic dimension and of one rank in a dimension that ends.
module neighborhood
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use tutti
  use check
  implicit none
  private
  public :: test_neighborhood

  integer, parameter :: neighbors = 4
  integer, parameter :: int_kind = kind(MPI_UNDEFINED), logical_kind = kind(MPI_SUBARRAYS_SUPPORTED)
  integer(int64), asynchronous :: sent(most), received(most), grid(neighbors, block)

contains

  subroutine test_neighborhood(g)
    type(group), intent(in) :: g
    type(MPI_Comm) :: flat, cart
    type(tutti_comm) :: comm
    integer, allocatable :: from(:), to(:)
    integer :: code
    call tutti_neighbor_alltoall(g%comm, sent(:neighbors), received(:neighbors), ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "topology")
    call tutti_comm_mpi_handle(g%comm, flat)
    call MPI_Cart_create(flat, 2_int_kind, int([g%size, 1], int_kind), logical([.true., .false.], logical_kind), &
        logical(.false., logical_kind), cart)
    call tutti_comm_adopt(cart, comm)
    call tutti_comm_neighbors(comm, from, to)
    call expect(all(from == [modulo(g%rank - 1, g%size), modulo(g%rank + 1, g%size), tutti_proc_null, &
        tutti_proc_null]), "sources")
    call expect(all(to == from), "destinations")
    call equal_blocks(comm, g%rank, from)
    call gathered(comm, g%rank, from)
    call varying_blocks(comm, g%rank, from)
    call gathered_varying(comm, g%rank, from)
    call columns(comm, g%rank, from)
    call tutti_neighbor_alltoall(comm, sent(:neighbors + 1), received(:neighbors), ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "sendbuf")
    call tutti_comm_free(comm)
  end subroutine test_neighborhood

  subroutine fill(rank, iteration)
    integer, intent(in) :: rank, iteration
    sent = some(rank, 0, most, iteration)
    received = -1
    grid = -1
  end subroutine fill

  !> Expects elements from `first` on of a source, or untouched ones where there is none.
  subroutine expect_block(values, source, first, iteration, what)
    integer(int64), intent(in) :: values(:)
    integer, intent(in) :: source, first, iteration
    character(len=*), intent(in) :: what
    if (source == tutti_proc_null) then
      call expect(all(values == -1), what//", of nobody")
    else
      call expect(all(values == some(source, first, size(values), iteration)), what)
    end if
  end subroutine expect_block

  !> What goes down, block 0 or 2, comes from above.
  pure integer function opposite(b)
    integer, intent(in) :: b
    opposite = ieor(b, 1)
  end function opposite

  subroutine equal_blocks(comm, rank, from)
    type(tutti_comm), intent(in) :: comm
    integer, intent(in) :: rank, from(0:)
    type(tutti_request) :: request
    integer :: iteration, b
    associate (s => sent(:neighbors*block), r => received(:neighbors*block))
      do iteration = 1, iterations
        call fill(rank, iteration)
        select case (iteration)
        case (1)
          call tutti_neighbor_alltoall(comm, s, r)
        case (2)
          call tutti_ineighbor_alltoall(comm, s, r, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_neighbor_alltoall_init(comm, s, r, request)
          call go(request)
        end select
        do b = 0, neighbors - 1
          call expect_block(r(b*block + 1:b*block + block), from(b), opposite(b)*block, iteration, "neighbor_alltoall")
        end do
      end do
    end associate
    call tutti_request_free(request)
  end subroutine equal_blocks

  subroutine gathered(comm, rank, from)
    type(tutti_comm), intent(in) :: comm
    integer, intent(in) :: rank, from(0:)
    type(tutti_request) :: request
    integer :: iteration, b
    associate (s => sent(:block), r => received(:neighbors*block))
      do iteration = 1, iterations
        call fill(rank, iteration)
        select case (iteration)
        case (1)
          call tutti_neighbor_allgather(comm, s, r)
        case (2)
          call tutti_ineighbor_allgather(comm, s, r, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_neighbor_allgather_init(comm, s, r, request)
          call go(request)
        end select
        do b = 0, neighbors - 1
          call expect_block(r(b*block + 1:b*block + block), from(b), 0, iteration, "neighbor_allgather")
        end do
      end do
    end associate
    call tutti_request_free(request)
  end subroutine gathered

  !> Block b has b + 1 elements, from element 5 b on; the blocks are received in reverse order.
  subroutine varying_blocks(comm, rank, from)
    type(tutti_comm), intent(in) :: comm
    integer, intent(in) :: rank, from(0:)
    integer, parameter :: counts(0:3) = [1, 2, 3, 4], displs(0:3) = [0, 5, 10, 15]
    integer, parameter :: recv_counts(0:3) = [2, 1, 4, 3], recv_displs(0:3) = [15, 10, 5, 0]
    type(tutti_request) :: request
    integer :: iteration, b
    do iteration = 1, iterations
      call fill(rank, iteration)
      select case (iteration)
      case (1)
        call tutti_neighbor_alltoallv(comm, sent, counts, displs, received, recv_counts, recv_displs)
      case (2)
        call tutti_ineighbor_alltoallv(comm, sent, int(counts, int64), int(displs, int64), received, &
            int(recv_counts, int64), int(recv_displs, int64), request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_neighbor_alltoallv_init(comm, sent, counts, displs, received, recv_counts, &
            recv_displs, request)
        call go(request)
      end select
      do b = 0, neighbors - 1
        call expect_block(received(recv_displs(b) + 1:recv_displs(b) + recv_counts(b)), from(b), displs(opposite(b)), &
            iteration, "neighbor_alltoallv")
      end do
    end do
    call tutti_request_free(request)
  end subroutine varying_blocks

  subroutine gathered_varying(comm, rank, from)
    type(tutti_comm), intent(in) :: comm
    integer, intent(in) :: rank, from(0:)
    integer, parameter :: counts(0:3) = block, displs(0:3) = [18, 12, 6, 0]
    type(tutti_request) :: request
    integer :: iteration, b
    associate (s => sent(:block))
      do iteration = 1, iterations
        call fill(rank, iteration)
        select case (iteration)
        case (1)
          call tutti_neighbor_allgatherv(comm, s, received, counts, displs)
        case (2)
          call tutti_ineighbor_allgatherv(comm, s, received, counts, displs, request)
          call tutti_wait(request)
        case default
          if (iteration == 3) call tutti_neighbor_allgatherv_init(comm, s, received, counts, displs, request)
          call go(request)
        end select
        do b = 0, neighbors - 1
          call expect_block(received(displs(b) + 1:displs(b) + block), from(b), 0, iteration, "neighbor_allgatherv")
        end do
      end do
    end associate
    call tutti_request_free(request)
  end subroutine gathered_varying

  !> Blocks that follow one another become the rows of an array.
  subroutine columns(comm, rank, from)
    type(tutti_comm), intent(in) :: comm
    integer, intent(in) :: rank, from(0:)
    integer, parameter :: whole(neighbors) = block, once(neighbors) = 1
    integer(int64), parameter :: displs(neighbors) = [0, 8*block, 16*block, 24*block]
    integer(int64), parameter :: row_displs(neighbors) = [0, 8, 16, 24]
    type(tutti_datatype) :: row, plain(neighbors), rows(neighbors)
    type(tutti_request) :: request
    integer :: iteration, b, code
    call tutti_datatype_vector(block, 1, neighbors, tutti_int64, row)
    plain = tutti_int64
    rows = row
    do iteration = 1, iterations
      call fill(rank, iteration)
      select case (iteration)
      case (1)
        call tutti_neighbor_alltoallw(comm, sent, whole, displs, plain, grid, once, row_displs, rows)
      case (2)
        call tutti_ineighbor_alltoallw(comm, sent, int(whole, int64), displs, plain, grid, int(once, int64), &
            row_displs, rows, request)
        call tutti_wait(request)
      case default
        if (iteration == 3) call tutti_neighbor_alltoallw_init(comm, sent, whole, displs, plain, grid, once, &
            row_displs, rows, request)
        call go(request)
      end select
      do b = 0, neighbors - 1
        call expect_block(grid(b + 1, :), from(b), opposite(b)*block, iteration, "neighbor_alltoallw")
      end do
    end do
    call tutti_request_free(request)
    call tutti_neighbor_alltoallw(comm, sent, whole, displs(:2), plain, grid, once, row_displs, rows, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "send_displs")
    call tutti_datatype_free(row)
  end subroutine columns
end module neighborhood
