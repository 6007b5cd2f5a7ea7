! SPDX-License-Identifier: BSD-3-Clause
! Logistic regression on the Adult data of the UCI repository. Each rank has every n-th row; a reducer adds the gradients
! of the ranks up, Adam updates the weights alike on all of them. Usage: logistic adult.data adult.test
program logistic
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: numbers(5) = [1, 5, 11, 12, 13], words(8) = [2, 4, 6, 7, 8, 9, 10, 14], width = 120, bins = 10000
  character(len=32) :: known(width) = ""
  real(8), allocatable :: x(:, :), y(:), error(:)
  real(8), asynchronous :: w(width), bias(1), gradient(width), slope(1)
  real(8) :: state_w(2*width), state_bias(2), mean(5), deviation(5), samples(1), auc
  integer(8) :: counts(bins, 0:1)
  type(tutti_comm) :: comm
  type(tutti_reducer) :: reducer
  type(tutti_dense_update) :: adam
  integer :: rank, ranks, step, i, bin

  call MPI_Init()
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)
  call read_rows(1, .true.)
  samples = size(y)
  call tutti_allreduce(comm, samples, tutti_sum)

  call tutti_reducer_create(comm, reducer, tutti_reducer_options(op=tutti_sum))
  w = 0; bias = 0; state_w = 0; state_bias = 0
  call tutti_reducer_add(reducer, "weights", w, gradient) ! parameter 1
  call tutti_reducer_add(reducer, "bias", bias, slope) ! parameter 2
  call tutti_reducer_prepare(reducer)
  adam = tutti_dense_update(optimizer=tutti_dense_adam, learning_rate=0.05d0)
  do step = 1, 200
    error = (1/(1 + exp(-matmul(w, x) - bias(1))) - y)/samples(1)
    slope = sum(error)
    call tutti_reducer_ready(reducer, 2) ! is summed over the ranks while the other is computed
    gradient = matmul(x, error)
    call tutti_reducer_ready(reducer, 1)
    call tutti_reducer_wait(reducer)
    call tutti_dense_step(adam, step, w, gradient, state_w)
    call tutti_dense_step(adam, step, bias, slope, state_bias)
  end do
  call tutti_reducer_free(reducer)

  ! The area under the curve: how often a row with income above 50K has the larger score, by counts of scores.
  call read_rows(2, .false.)
  error = 1/(1 + exp(-matmul(w, x) - bias(1)))
  counts = 0
  do i = 1, size(y)
    bin = 1 + min(bins - 1, int(error(i)*bins))
    counts(bin, nint(y(i))) = counts(bin, nint(y(i))) + 1
  end do
  call tutti_allreduce(comm, counts, tutti_sum)
  auc = sum([((sum(counts(:bin - 1, 0)) + 0.5d0*counts(bin, 0))*counts(bin, 1), bin=1, bins)])
  auc = auc/(real(sum(counts(:, 0)), 8)*sum(counts(:, 1)))
  if (rank == 0) print '(a, f6.4, a, i0, a)', "AUC ", auc, " on ", sum(counts), " rows"
  call tutti_comm_free(comm)
  call MPI_Finalize()

contains

  !> Rows rank + 1, rank + 1 + ranks, ... of a file: a column of x is numbers, then a 0 or 1 for each known word.
  subroutine read_rows(argument, training)
    integer, intent(in) :: argument
    logical, intent(in) :: training
    character(len=256) :: path, line
    character(len=32) :: field(15), word
    integer :: file, row, k, place, used, status
    call get_command_argument(argument, path)
    open (newunit=file, file=path, status="old", action="read")
    if (allocated(x)) deallocate (x, y)
    allocate (x(width, 50000), y(50000))
    x = 0
    row = 0
    used = 5 + count(known(6:) /= "")
    do
      read (file, '(a)', iostat=status) line
      if (status /= 0) exit
      if (count(transfer(line, "a", len(line)) == ",") /= 14) cycle
      read (line, *) field
      row = row + 1
      do k = 1, 5
        read (field(numbers(k)), *) x(k, row)
      end do
      y(row) = merge(1, 0, field(15) (1:1) == ">")
      do k = 1, size(words)
        word = achar(64 + k)//field(words(k))
        place = findloc(known(:used), word, 1)
        if (place == 0 .and. training .and. used < width) then
          used = used + 1
          place = used
          known(place) = word
        end if
        if (place > 0) x(place, row) = 1
      end do
    end do
    close (file)
    x(3:4, :row) = log(1 + x(3:4, :row))
    if (training) mean = sum(x(:5, :row), 2)/row
    if (training) deviation = sqrt(sum((x(:5, :row) - spread(mean, 2, row))**2, 2)/row)
    x(:5, :row) = (x(:5, :row) - spread(mean, 2, row))/spread(deviation, 2, row)
    x = x(:, rank + 1:row:ranks)
    y = y(rank + 1:row:ranks)
  end subroutine read_rows

end program logistic
