! SPDX-License-Identifier: BSD-3-Clause
! Logistic regression on the Adult data. Each of n ranks has every n-th row; a reducer sums the gradients, and Adam
! makes the same update on all ranks. Usage: logistic adult.data adult.test
program logistic
  use mpi_f08
  use tutti
  use adult
  implicit none
  integer, parameter :: bins = 10000
  real(8), allocatable :: x(:, :), y(:), error(:)
  real(8), asynchronous :: w(width), gradient(width), bias(1), slope(1)
  real(8) :: state_w(2*width), state_bias(2), samples(1), auc
  integer(8) :: counts(bins, 0:1)
  character(len=256) :: path(2)
  type(tutti_comm) :: comm
  type(tutti_reducer) :: reducer
  type(tutti_dense_update) :: adam
  integer :: rank, ranks, step, i, bin

  call MPI_Init()
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)
  call get_command_argument(1, path(1))
  call get_command_argument(2, path(2))
  call read_rows(path(1), rank + 1, ranks, .true., x, y)
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
    call tutti_reducer_ready(reducer, 2)
    gradient = matmul(x, error)
    call tutti_reducer_ready(reducer, 1)
    call tutti_reducer_wait(reducer)
    call tutti_dense_step(adam, step, w, gradient, state_w)
    call tutti_dense_step(adam, step, bias, slope, state_bias)
  end do
  call tutti_reducer_free(reducer)

  ! The area under the curve: how often a row with a high income has the larger score, by counts of scores.
  call read_rows(path(2), rank + 1, ranks, .false., x, y)
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
end program logistic
