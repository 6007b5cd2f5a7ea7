! SPDX-License-Identifier: BSD-3-Clause
!> Embedding tables, against tables that every rank keeps whole.
module embedding
  use check
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Comm_rank, MPI_Comm_size
  use, intrinsic :: iso_c_binding, only: c_size_t
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  implicit none
  private
  public :: test_embedding

  integer, parameter :: tables = 2, batch = 6, dims(tables) = [8, 4], rows(tables) = [11, 7]
  real(real64), parameter :: learning_rate = 0.5_real64

  !> The same as a collection, on one rank.
  type :: reference
    real(real32) :: values(8, 11, tables) = 0
    logical :: weighted = .false.
  end type

contains

  subroutine test_embedding(g)
    type(group), intent(in) :: g
    integer :: sharding
    do sharding = tutti_sharding_auto, tutti_sharding_row_wise_on_node
      call steps(g, sharding, .false.)
      call steps(g, sharding, .true.)
    end do
    call exchanged(g)
    call shares(g)
    call refused_batches(g)
    call started(g)
  end subroutine test_embedding

  function made(g, sharding, weighted) result(collection)
    type(group), intent(in) :: g
    integer, intent(in) :: sharding
    logical, intent(in) :: weighted
    type(tutti_embedding_collection) :: collection
    type(tutti_embedding_table) :: given(tables)
    integer :: pooling, order
    order = merge(tutti_row_order_cyclic, tutti_row_order_auto, sharding == tutti_sharding_row_wise_on_node)
    pooling = merge(tutti_pooling_sum, tutti_pooling_mean, weighted)
    given(1) = tutti_embedding_table("first", rows(1), dims(1), sharding=sharding, mean_lookups=2.0_real64, &
        row_order=order)
    given(2) = tutti_embedding_table("second", rows(2), dims(2), pooling=pooling)
    call tutti_embedding_create(g%comm, given, collection, &
        tutti_embedding_options(max_batch=batch, slots=2, weighted=weighted))
  end function made

  !> Sample s has 0 to 3 rows of a table.
  pure integer function length_of(s, t)
    integer, intent(in) :: s, t
    length_of = modulo(s + 2*t, 4)
  end function length_of

  pure integer function row_of(s, t, k)
    integer, intent(in) :: s, t, k
    row_of = 1 + modulo(3*s + 5*k + t, rows(t))
  end function row_of

  !> What a row is worth in a bag.
  pure real(real32) function factor_of(whole, s, t, k)
    type(reference), intent(in) :: whole
    integer, intent(in) :: s, t, k
    factor_of = 1
    if (whole%weighted) then
      factor_of = 0.5*k
    else if (t == 2) then
      factor_of = 1.0/length_of(s, t)
    end if
  end function factor_of

  pure real(real32) function gradient_of(s, t, d)
    integer, intent(in) :: s, t, d
    gradient_of = 0.125*(s + d) - t
  end function gradient_of

  !> Samples first to last.
  function bags_of(first, last, t, weighted) result(bags)
    integer, intent(in) :: first, last, t
    logical, intent(in) :: weighted
    type(tutti_bags) :: bags
    integer :: s, k
    allocate (bags%offsets(last - first + 2))
    allocate (bags%indices(0))
    bags%offsets(1) = 1
    do s = first, last
      bags%indices = [bags%indices, [(int(row_of(s, t, k), int64), k=1, length_of(s, t))]]
      bags%offsets(s - first + 2) = bags%offsets(s - first + 1) + length_of(s, t)
    end do
    if (weighted) bags%weights = [real(real32) :: ((0.5*k, k=1, length_of(s, t)), s=first, last)]
  end function bags_of

  subroutine start(g, collection, slot, layout, weighted)
    type(group), intent(in) :: g
    type(tutti_embedding_collection), intent(in) :: collection
    integer, intent(in) :: slot, layout
    logical, intent(in) :: weighted
    type(tutti_bags) :: bags(tables)
    logical :: needs
    integer :: t
    do t = 1, tables
      if (layout == tutti_input_local) then
        bags(t) = bags_of(g%rank*batch/g%size + 1, (g%rank + 1)*batch/g%size, t, weighted)
      else
        call tutti_embedding_needs(collection, t, needs)
        if (needs) bags(t) = bags_of(1, batch, t, weighted)
      end if
    end do
    call tutti_embedding_start_forward(collection, slot, bags, batch, layout)
  end subroutine start

  subroutine check_vectors(g, collection, slot, whole)
    type(group), intent(in) :: g
    type(tutti_embedding_collection), intent(in) :: collection
    integer, intent(in) :: slot
    type(reference), intent(in) :: whole
    real(real32), pointer :: vectors(:, :)
    real(real32) :: expected(8)
    integer :: t, s, k, before
    before = g%rank*batch/g%size
    do t = 1, tables
      call tutti_embedding_vectors(collection, slot, t, vectors)
      call expect(size(vectors, 1) == dims(t) .and. size(vectors, 2) == (g%rank + 1)*batch/g%size - before, "a shape")
      do s = before + 1, before + size(vectors, 2)
        expected = 0
        do k = 1, length_of(s, t)
          expected = expected + factor_of(whole, s, t, k)*whole%values(:, row_of(s, t, k), t)
        end do
        call expect(all(abs(vectors(:, s - before) - expected(:dims(t))) < 1e-4), "a pooled vector")
      end do
    end do
  end subroutine check_vectors

  subroutine backward(g, collection, slot)
    type(group), intent(in) :: g
    type(tutti_embedding_collection), intent(in) :: collection
    integer, intent(in) :: slot
    real(real32), pointer :: gradients(:, :)
    integer :: t, s, d
    do t = 1, tables
      call tutti_embedding_gradients(collection, slot, t, gradients)
      do s = 1, size(gradients, 2)
        gradients(:, s) = [(gradient_of(g%rank*batch/g%size + s, t, d), d=1, dims(t))]
      end do
    end do
    call tutti_embedding_start_backward(collection, slot)
    call tutti_embedding_progress(collection)
    call tutti_embedding_finish_backward(collection, slot, learning_rate)
  end subroutine backward

  subroutine update(whole)
    type(reference), intent(inout) :: whole
    real(real32) :: step
    integer :: t, s, k, d
    do t = 1, tables
      do s = 1, batch
        do k = 1, length_of(s, t)
          do d = 1, dims(t)
            step = real(learning_rate, real32)*factor_of(whole, s, t, k)*gradient_of(s, t, d)
            whole%values(d, row_of(s, t, k), t) = whole%values(d, row_of(s, t, k), t) - step
          end do
        end do
      end do
    end do
  end subroutine update

  !> This rank's rows, and that the ranks together have all of them.
  subroutine check_rows(g, collection, whole)
    type(group), intent(in) :: g
    type(tutti_embedding_collection), intent(in) :: collection
    type(reference), intent(in) :: whole
    type(tutti_table_shard), allocatable :: shards(:)
    real(real32), allocatable :: values(:, :)
    integer(int64) :: seen, wanted
    integer :: i, t, sharding
    seen = 0
    call tutti_embedding_shards(collection, shards)
    do i = 1, size(shards)
      associate (s => shards(i))
        allocate (values(s%last_column - s%first_column + 1, (s%last_row - s%first_row)/s%row_step + 1))
        call tutti_embedding_read_rows(collection, i, s%first_row, values)
        seen = seen + size(values)
        call expect(all(abs(values - whole%values(s%first_column:s%last_column, s%first_row:s%last_row:s%row_step, &
            s%table)) < 1e-4), "rows of a shard")
        deallocate (values)
      end associate
    end do
    wanted = 0
    do t = 1, tables
      call tutti_embedding_sharding(collection, t, sharding)
      call expect(sharding /= tutti_sharding_auto, "a finished plan")
      wanted = wanted + merge(g%size, 1, sharding == tutti_sharding_data_parallel)*rows(t)*dims(t)
    end do
    call tutti_allreduce(g%comm, tutti_in_place, seen, tutti_sum)
    call expect(seen == wanted, "all rows on some rank")
  end subroutine check_rows

  !> The ranks of two groups save at the same time.
  function folder_of(g, sharding, weighted) result(folder)
    type(group), intent(in) :: g
    integer, intent(in) :: sharding
    logical, intent(in) :: weighted
    character(len=80) :: folder
    integer(kind(MPI_COMM_WORLD%MPI_VAL)) :: first, ranks
    call MPI_Comm_rank(MPI_COMM_WORLD, first)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call tutti_bcast(g%comm, first, 0)
    write (folder, '(a, 5(i0, :, "_"))') "fortran_embedding/", ranks, g%size, first, sharding, merge(1, 0, weighted)
  end function folder_of

  subroutine steps(g, sharding, weighted)
    type(group), intent(in) :: g
    integer, intent(in) :: sharding
    logical, intent(in) :: weighted
    type(tutti_embedding_collection) :: collection
    type(reference) :: whole
    integer :: step, t, slot, layout, first
    character(len=80) :: folder
    logical :: done
    collection = made(g, sharding, weighted)
    whole%weighted = weighted
    do t = 1, tables
      call tutti_embedding_fill(collection, t, make)
      call make(t, 1_int64, whole%values(:dims(t), :rows(t), t))
    end do
    do step = 1, 4
      slot = 1 + modulo(step, 2)
      layout = merge(tutti_input_local, tutti_input_global, step > 2)
      call start(g, collection, slot, layout, weighted)
      call tutti_embedding_progress(collection)
      call tutti_embedding_finish_forward(collection, slot)
      call check_vectors(g, collection, slot, whole)
      call backward(g, collection, slot)
      call update(whole)
    end do
    call check_rows(g, collection, whole)
    if (weighted) then
      call tutti_embedding_start_save(collection, folder_of(g, sharding, weighted))
      call tutti_embedding_test_save(collection, done)
      call expect(.not. done, "the save that has begun")
      call start(g, collection, 1, tutti_input_local, weighted)
      call tutti_embedding_finish_forward(collection, 1)
      call backward(g, collection, 1)
      call tutti_embedding_finish_save(collection)
      call tutti_embedding_test_save(collection, done)
      call expect(done, "the save that has ended")
    else if (sharding == tutti_sharding_row_wise) then
      folder = folder_of(g, sharding, weighted)
      call tutti_embedding_save_incremental(collection, folder)
      first = 1
      do while (first < 1000000 .and. .not. has_part(folder, first))
        first = first + 1
      end do
      call start(g, collection, 1, tutti_input_local, weighted)
      call tutti_embedding_finish_forward(collection, 1)
      call backward(g, collection, 1)
      call update(whole)
      call tutti_embedding_start_save_incremental(collection, folder)
      call tutti_embedding_finish_save(collection)
      call expect(has_part(folder, first), "an increment is added")
    else
      call tutti_embedding_save(collection, folder_of(g, sharding, weighted))
    end if
    call tutti_embedding_free(collection)
    collection = made(g, tutti_sharding_table_wise, weighted)
    call tutti_embedding_load(collection, folder_of(g, sharding, weighted))
    call check_rows(g, collection, whole)
    call tutti_embedding_free(collection)
  end subroutine steps

  !> Whether the folder has the part of rank 0 of a save.
  function has_part(folder, number) result(has)
    character(len=*), intent(in) :: folder
    integer, intent(in) :: number
    logical :: has
    character(len=120) :: name
    write (name, '(a, "/part-", i0, "-0")') trim(folder), number
    inquire (file=trim(name), exist=has)
  end function has_part

  subroutine make(table, first, values)
    integer, intent(in) :: table
    integer(int64), intent(in) :: first
    real(real32), intent(out) :: values(:, :)
    integer :: i, d
    do i = 1, size(values, 2)
      values(:, i) = [(table + 0.25*(first + i - 1) - 0.125*d, d=1, size(values, 1))]
    end do
  end subroutine make

  !> Shares change the predicted lookups of ranks that have parts of a table, and its distinct rows.
  subroutine shares(g)
    type(group), intent(in) :: g
    type(tutti_embedding_table) :: table
    type(tutti_embedding_collection) :: collection
    character(len=:), allocatable :: even, skewed
    integer :: code
    table = tutti_embedding_table("shared", 12, 8, sharding=tutti_sharding_row_wise)
    even = plan_of(g, table)
    table%lookup_shares = [15d0, 1d0]
    table%row_order = tutti_row_order_blocks
    skewed = plan_of(g, table)
    call expect(even /= skewed, "lookup_shares are in the plan")
    table%lookup_shares = [1d0, -1d0]
    call tutti_embedding_create(g%comm, [table], collection, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "lookup_shares of table 0 'shared'")
    deallocate (table%lookup_shares)
    table%row_order = tutti_row_order_cyclic
    even = plan_of(g, table)
    call expect((index(even, " rows 1-") > 0) .eqv. (g%size > 1), "cyclic rows are in the plan")
    table%frequencies = tutti_row_frequencies([1_int64, 2_int64], [60d0, 30d0], [3d0], [30d0])
    skewed = plan_of(g, table)
    call expect(even /= skewed, "frequencies are in the plan")
    table%frequencies%hot_rows = [1_int64, 13_int64]
    call tutti_embedding_create(g%comm, [table], collection, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "frequencies of table 0 'shared' name a hot row that")
  end subroutine shares

  function plan_of(g, table) result(text)
    type(group), intent(in) :: g
    type(tutti_embedding_table), intent(in) :: table
    character(len=:), allocatable :: text
    type(tutti_embedding_collection) :: collection
    call tutti_embedding_create(g%comm, [table], collection, tutti_embedding_options(max_batch=batch))
    call tutti_embedding_plan(collection, text)
    call tutti_embedding_free(collection)
  end function plan_of

  !> Vectors travel in 16 bits: they are close to the sums, and are not the sums where there are several ranks.
  subroutine exchanged(g)
    type(group), intent(in) :: g
    type(tutti_embedding_collection) :: collection
    type(tutti_embedding_table) :: table
    type(tutti_embedding_options) :: options
    type(tutti_bags) :: bags(1)
    real(real32), pointer :: vectors(:, :)
    real(real32) :: error
    integer :: code, s
    table = tutti_embedding_table("only", 11, 8, sharding=tutti_sharding_table_wise)
    options%max_batch = batch
    options%exchange_datatype = tutti_int32
    call tutti_embedding_create(g%comm, [table], collection, options, code)
    call expect_failure(code, tutti_error_invalid_argument, "exchange_datatype is int32")
    options%exchange_datatype = tutti_bfloat16
    call tutti_embedding_create(g%comm, [table], collection, options)
    call tutti_embedding_fill(collection, 1, make_long)
    bags(1)%indices = [(int(s, int64), s=1, batch)]
    bags(1)%offsets = [(int(s, int64), s=1, batch + 1)]
    call tutti_embedding_start_forward(collection, 1, bags, batch, tutti_input_global)
    call tutti_embedding_finish_forward(collection, 1)
    call tutti_embedding_vectors(collection, 1, 1, vectors)
    do s = 1, size(vectors, 2)
      error = abs(vectors(1, s) - long_value(int(g%rank*batch/g%size + s, int64)))
      call expect(error < 1.0/256, "a vector to within the rounding")
      call expect((error > 1e-5) .eqv. (g%size > 1), "a vector that is rounded where it travels")
    end do
    call tutti_embedding_free(collection)
  end subroutine exchanged

  !> No number of 8 bits.
  pure real(real32) function long_value(row)
    integer(int64), intent(in) :: row
    long_value = 1 + row/1000.0
  end function long_value

  subroutine make_long(table, first, values)
    integer, intent(in) :: table
    integer(int64), intent(in) :: first
    real(real32), intent(out) :: values(:, :)
    integer :: i
    do i = 1, size(values, 2)
      values(:, i) = long_value(first + i - 1) + 0*table
    end do
  end subroutine make_long

  !> What one rank finds wrong is an error on all, and the next batch is well.
  subroutine refused_batches(g)
    type(group), intent(in) :: g
    type(tutti_embedding_collection) :: collection, none
    type(reference) :: whole
    type(tutti_bags) :: bags(tables), wrong(tables)
    real(real32), pointer :: vectors(:, :)
    character(len=:), allocatable :: error
    real(real32) :: values(3, 1)
    integer :: code, t
    collection = made(g, tutti_sharding_row_wise, .false.)
    bags = [(bags_of(1, batch, t, .false.), t=1, tables)]
    wrong = bags
    if (g%rank == g%size - 1) wrong(2)%offsets = [1_int64, 2_int64]
    call tutti_embedding_start_forward(collection, 1, wrong, batch, tutti_input_global, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "table 2: offsets do not have one element more")
    wrong = bags
    if (g%rank == 0) wrong(1)%offsets(batch + 1) = 1000
    call tutti_embedding_start_forward(collection, 1, wrong, batch, tutti_input_global, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "table 1: offsets go beyond indices")
    error = ""
    if (g%rank == 0) error = "a line is cut"
    call tutti_embedding_start_forward(collection, 1, bags, batch, tutti_input_global, error, code)
    call expect_failure(code, tutti_error_invalid_argument, "a line is cut")
    wrong = bags
    wrong(1)%indices(1) = rows(1) + 1
    call tutti_embedding_start_forward(collection, 1, wrong, batch, tutti_input_global, ierror=code)
    call expect_failure(code, tutti_error_index_out_of_range, "11")
    call tutti_embedding_start_forward(collection, 3, bags, batch, tutti_input_global, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "argument slot")
    call start(g, collection, 1, tutti_input_global, .false.)
    call tutti_embedding_finish_forward(collection, 1)
    call check_vectors(g, collection, 1, whole)
    call tutti_embedding_vectors(collection, 1, 0, vectors, code)
    call expect_failure(code, tutti_error_invalid_argument, "argument table")
    call expect(.not. associated(vectors), "no vectors")
    call tutti_embedding_read_rows(collection, 1, 1_int64, values, code)
    call expect_failure(code, tutti_error_invalid_argument, "tutti_embedding_read_rows")
    call tutti_embedding_load(collection, "no such folder", code)
    call expect_failure(code, tutti_error_io, "no such folder")
    call tutti_embedding_free(collection)
    call tutti_embedding_finish_forward(none, 1, code)
    call expect_failure(code, tutti_error_invalid_argument, "argument collection")
    call tutti_embedding_create(g%comm, [tutti_embedding_table("", 3, 2)], collection, ierror=code)
    call expect_failure(code, tutti_error_invalid_argument, "name")
  end subroutine refused_batches

  subroutine started(g)
    type(group), intent(in) :: g
    type(tutti_embedding_collection) :: collection
    character(len=:), allocatable :: plan
    type(tutti_table_shard), allocatable :: shards(:)
    real(real32), allocatable :: values(:, :)
    integer(c_size_t) :: bytes
    collection = made(g, tutti_sharding_data_parallel, .false.)
    call tutti_embedding_initialize(collection)
    call tutti_embedding_plan(collection, plan)
    call expect(index(plan, "first") > 0 .and. index(plan, "data-parallel") > 0, "a plan that names tables")
    call tutti_embedding_bytes(collection, bytes)
    call expect(bytes >= 4*rows(1)*dims(1), "bytes of rows")
    call tutti_embedding_shards(collection, shards)
    call expect(shards(1)%table == 1 .and. shards(1)%last_row == rows(1), "the first shard")
    allocate (values(dims(1), rows(1)))
    call tutti_embedding_read_rows(collection, 1, 1_int64, values)
    call expect(all(abs(values) <= 1/sqrt(11.0)) .and. any(values < 0) .and. any(values > 0), "drawn values")
    call tutti_embedding_free(collection)
  end subroutine started

end module embedding
