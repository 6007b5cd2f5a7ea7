! SPDX-License-Identifier: BSD-3-Clause
!> Reducers, optimizers and parameter servers.
module training
  use check
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  implicit none
  private
  public :: test_training

contains

  subroutine test_training(g)
    type(group), intent(in) :: g
    call steps(g)
    call in_buckets(g)
    call uneven(g)
    call hooks(g)
    call refused_parameters(g)
    call dense()
    call divided(g)
    call rows_of_all(g, .true.)
    call rows_of_all(g, .false.)
  end subroutine test_training

  !> Arrays of both kinds and of ranks 0 to 4.
  subroutine steps(g)
    type(group), intent(in) :: g
    type(tutti_reducer) :: reducer
    type(tutti_reducer_figures) :: figures
    real(real64), asynchronous :: a(3, 4), da(3, 4), scalar, dscalar
    real(real32), asynchronous :: b(5), db(5), c(2, 2, 2), dc(2, 2, 2), d(2, 1, 2, 3), dd(2, 1, 2, 3)
    character(len=:), allocatable :: map
    real(real64) :: mean, norm
    logical :: used
    integer :: index, step, i
    a = g%rank; b = g%rank; c = g%rank; d = g%rank; scalar = g%rank
    mean = (g%size - 1)/2.0_real64
    call tutti_reducer_create(g%comm, reducer)
    call tutti_reducer_add(reducer, "a", a, da, index)
    call expect(index == 1, "parameters are numbered from 1")
    call tutti_reducer_add(reducer, "b", b, db)
    call tutti_reducer_add(reducer, "c", c, dc)
    call tutti_reducer_add(reducer, "d", d, dd)
    call tutti_reducer_add(reducer, "scalar", scalar, dscalar, index)
    call expect(index == 5, "the fifth")
    call tutti_reducer_prepare(reducer)
    call expect(all(a == 0) .and. all(b == 0) .and. all(c == 0) .and. all(d == 0) .and. scalar == 0, "rank 0's values")
    do step = 1, 4
      da = reshape([(i + step*g%rank, i=1, 12)], shape(da))
      db = g%rank; dc = 2*g%rank; dd = 4*g%rank; dscalar = 8*g%rank
      do i = 5, 1, -1
        call tutti_reducer_ready(reducer, i)
        call tutti_reducer_progress(reducer)
      end do
      call tutti_reducer_wait(reducer)
      call expect(all(da == reshape([(i + step*mean, i=1, 12)], shape(da))), "the average of a matrix")
      call expect(all(db == mean) .and. all(dc == 2*mean) .and. all(dd == 4*mean) .and. dscalar == 8*mean, "averages")
    end do
    call tutti_reducer_used(reducer, 5, used)
    call expect(used, "is used")
    call tutti_reducer_statistics(reducer, figures)
    call expect(figures%steps == 4 .and. figures%buckets >= 1, "figures")
    call tutti_reducer_map(reducer, map)
    call expect(index_of(map, "5 scalar []") > 0, "a map that names parameters")
    call tutti_reducer_clip(reducer, 1e-3_real64, norm)
    call expect(norm > 1 .and. maxval(abs(da)) <= 1e-3_real64, "clipped")
    call tutti_reducer_set_sync(reducer, .false.)
    db = g%rank
    call tutti_reducer_ready(reducer, 2)
    call tutti_reducer_wait(reducer)
    call expect(all(db == g%rank), "left alone")
    call tutti_reducer_free(reducer)
  end subroutine steps

  integer function index_of(text, word)
    character(len=*), intent(in) :: text, word
    index_of = index(text, word)
  end function index_of

  !> Gradients that live in buckets; state that is saved.
  subroutine in_buckets(g)
    type(group), intent(in) :: g
    type(tutti_reducer) :: reducer
    real(real32), asynchronous :: w(6)
    real(real64), asynchronous :: v(2, 2)
    real(real32), pointer, contiguous :: dw(:)
    real(real64), pointer, contiguous :: dv(:), matrix(:, :)
    integer(c_int8_t), allocatable :: state(:)
    integer :: step, layout
    w = 1; v = 1
    call tutti_reducer_create(g%comm, reducer, tutti_reducer_options(op=tutti_sum, check=.true.))
    call tutti_reducer_add(reducer, "w", w)
    call tutti_reducer_add(reducer, "v", v)
    call tutti_reducer_prepare(reducer)
    do step = 1, 3
      call tutti_reducer_gradient(reducer, 1, dw)
      call tutti_reducer_gradient(reducer, 2, dv)
      matrix(1:2, 1:2) => dv
      dw = 1
      matrix = step
      call tutti_reducer_ready(reducer, 1)
      call tutti_reducer_ready(reducer, 2)
      call tutti_reducer_wait(reducer)
      call tutti_reducer_layout(reducer, layout)
      call tutti_reducer_gradient(reducer, 1, dw)
      call tutti_reducer_gradient(reducer, 2, dv)
      call expect(size(dw) == 6 .and. all(dw == g%size) .and. all(dv == step*g%size), "sums in buckets")
      if (step == 2) then
        call tutti_reducer_save(reducer, state)
        call tutti_reducer_load(reducer, state)
      end if
    end do
    call expect(layout >= 1, "a layout")
    call tutti_reducer_free(reducer)
  end subroutine in_buckets

  !> Rank r has r + 1 steps.
  subroutine uneven(g)
    type(group), intent(in) :: g
    type(tutti_reducer) :: reducer
    real(real64), asynchronous :: x(3), dx(3)
    integer :: step, joined
    logical :: more
    x = 0
    call tutti_reducer_create(g%comm, reducer, tutti_reducer_options(op=tutti_sum, uneven=.true.))
    call tutti_reducer_add(reducer, "x", x, dx)
    call tutti_reducer_prepare(reducer)
    do step = 1, g%rank + 1
      dx = 1
      call tutti_reducer_ready(reducer, 1)
      call tutti_reducer_wait(reducer)
      call expect(all(dx == g%size - step + 1), "the sum of those that have steps")
    end do
    joined = 0
    call tutti_reducer_join(reducer, more)
    do while (more)
      joined = joined + 1
      call tutti_reducer_join(reducer, more)
    end do
    call expect(joined == g%size - 1 - g%rank, "joined the others' steps")
    call tutti_reducer_free(reducer)
  end subroutine uneven

  subroutine hooks(g)
    type(group), intent(in) :: g
    type(tutti_reducer) :: reducer
    real(real32), asynchronous :: x(30, 30), dx(30, 30)
    real(real32) :: expected
    integer, parameter :: some(4) = [tutti_hook_none, tutti_hook_bf16, tutti_hook_fp16, tutti_hook_power_sgd]
    integer :: k
    expected = (g%size + 1)/2.0_real32
    do k = 1, size(some)
      x = 0
      dx = g%rank + 1
      call tutti_reducer_create(g%comm, reducer, tutti_reducer_options(hook=some(k), power_sgd_start_step=0))
      call tutti_reducer_add(reducer, "x", x, dx)
      call tutti_reducer_prepare(reducer)
      call tutti_reducer_ready(reducer, 1)
      call tutti_reducer_wait(reducer)
      call expect(all(abs(dx - expected) < 0.02*expected), "the average by a hook")
      call tutti_reducer_free(reducer)
    end do
  end subroutine hooks

  subroutine refused_parameters(g)
    type(group), intent(in) :: g
    type(tutti_reducer) :: reducer, none
    real(real64), asynchronous, target :: x(4, 4), dx(4, 4)
    real(real32), asynchronous :: other(4, 4)
    real(real64), allocatable, asynchronous :: absent(:)
    character, asynchronous :: letter
    integer :: code
    call tutti_reducer_create(g%comm, reducer)
    call tutti_reducer_add(reducer, "x", absent, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_reducer_add: argument value is not allocated")
    call tutti_reducer_add(reducer, "x", x, other, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument gradient has another type")
    call tutti_reducer_add(reducer, "x", x(::2, :), dx(::2, :), ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "not contiguous")
    call tutti_reducer_add(reducer, "x", letter, ierror=code)
    call expect_failure(code, tutti_error_invalid_datatype, "argument value")
    call tutti_reducer_ready(none, 1, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument reducer")
    x = 0
    call tutti_reducer_add(reducer, "x", x, dx)
    call tutti_reducer_prepare(reducer)
    call tutti_reducer_ready(reducer, 1)
    if (g%rank == 0) call tutti_reducer_ready(reducer, 1, ierror=code)
    call tutti_reducer_wait(reducer, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "rank 0 marked parameter 1 ('x') ready twice")
    ! At once on the rank that is wrong, and then on all.
    call tutti_reducer_ready(reducer, 1)
    if (g%rank == 0) then
      call tutti_reducer_ready(reducer, 9, ierror=code)
      call expect_failure(code, tutti_error_index_out_of_range, "ready(9), but there are 1 parameters")
      call tutti_reducer_ready(reducer, 0, ierror=code)
      call expect_failure(code, tutti_error_index_out_of_range, "ready(0), but there are 1 parameters")
    end if
    call tutti_reducer_wait(reducer, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "rank 0 called ready(9), but there are 1 parameters")
    call tutti_reducer_free(reducer)
  end subroutine refused_parameters

  subroutine dense()
    type(tutti_dense_update) :: update
    real(real32) :: x(2, 2), dx(2, 2), few(3)
    real(real64) :: y(1), state(2)
    integer :: values, code
    x = 1; dx = 4; few = 0; y = 3; state = 0
    call tutti_dense_step(tutti_dense_update(learning_rate=0.25_real64), 1, x, dx, few)
    call expect(all(x == 0), "a step of sgd")
    update%optimizer = tutti_dense_adam
    update%learning_rate = 0.5
    call tutti_dense_state_values(update, values)
    call expect(values == 2, "two values of state")
    call tutti_dense_step(update, 1, y, [4.0_real64], state)
    call expect(abs(y(1) - 2.5) < 1e-6, "a step of Adam")
    call tutti_dense_step(update, 1, x, dx, few, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument state")
    call tutti_dense_step(update, 1, x, dx(:, 1), few, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument gradients")
  end subroutine dense

  subroutine divided(g)
    type(group), intent(in) :: g
    type(tutti_reducer) :: reducer
    type(tutti_optimizer) :: optimizer
    type(tutti_dense_update) :: update
    real(real64), asynchronous :: x(101), dx(101)
    real(real64) :: expected(101), velocity(101), norm
    integer(c_int8_t), allocatable :: state(:)
    integer(c_size_t) :: bytes
    integer :: step, i
    update = tutti_dense_update(momentum=0.5_real64, learning_rate=0.25_real64)
    x = [(i, i=1, 101)]
    expected = x
    velocity = 0
    call tutti_reducer_create(g%comm, reducer, tutti_reducer_options(hook=tutti_hook_sharding, op=tutti_sum))
    call tutti_reducer_add(reducer, "x", x, dx)
    call tutti_reducer_prepare(reducer)
    call tutti_optimizer_create(reducer, update, optimizer)
    do step = 1, 3
      dx = (g%rank + 1)*step
      call tutti_reducer_ready(reducer, 1)
      call tutti_reducer_wait(reducer)
      call tutti_optimizer_step(optimizer, 0.25_real64, norm=norm)
      call tutti_dense_step(update, step, expected, spread(g%size*(g%size + 1)/2*step*1.0_real64, 1, 101), velocity)
      call expect(all(x == expected), "the values of an optimizer on every rank")
      call tutti_optimizer_save(optimizer, state)
      call tutti_optimizer_load(optimizer, state)
    end do
    call tutti_optimizer_state_bytes(optimizer, bytes)
    call expect(bytes > 0 .and. bytes <= 8*101 + 4096, "a part of the state")
    call tutti_optimizer_free(optimizer)
    call tutti_reducer_free(reducer)
  end subroutine divided

  subroutine rows_of_all(g, direct)
    type(group), intent(in) :: g
    logical, intent(in) :: direct
    type(tutti_server) :: server
    real(real32), pointer, contiguous :: mine(:, :)
    real(real32) :: values(3, 2)
    integer(int64) :: first, r
    integer :: i, code
    call tutti_server_create(g%comm, 10, 3, server, tutti_server_options(direct=direct))
    if (.not. direct) call expect(tutti_server_path(server) == "mpi", "over MPI")
    call tutti_server_local(server, mine, first)
    do r = 1, size(mine, 2)
      mine(:, r) = real(first + r - 1, real32)
    end do
    call tutti_server_fence(server)
    call tutti_server_pull(server, [10, 1], values)
    call expect(all(values(:, 1) == 10) .and. all(values(:, 2) == 1), "rows from 1")
    call tutti_server_fence(server)
    values(:, 1) = 1
    do i = 1, 5
      call tutti_server_push(server, [7_int64], values(:, 1:1), -2.0_real64)
      call tutti_server_progress(server)
    end do
    call tutti_server_fence(server)
    call tutti_server_pull(server, [7_int64], values(:, 1:1))
    call expect(all(values(:, 1) == 7 + 10*g%size), "sums of all pushes")
    call tutti_server_pull(server, [0, 1], values, ierror=code)
    call expect_failure(code, tutti_error_index_out_of_range, "has 0 at position 1; pass rows from 1 to 10")
    call tutti_server_push(server, [1, 2], values(:2, :), 1.0_real64, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument gradients")
    call tutti_server_pull(server, [1], values, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "second extent")
    call tutti_server_free(server)
  end subroutine rows_of_all

end module training
