! SPDX-License-Identifier: BSD-3-Clause
! Ranges by the Fortran module, which the trace must show.
program traced_ranges
  use mpi
  use tutti
  implicit none
  type(tutti_comm) :: comm
  real :: x(1)
  integer :: code
  call tutti_range_pop(code)
  if (code /= tutti_error_invalid_argument) error stop "tutti_range_pop without a range"
  call tutti_range_push("outer   ")
  call MPI_Init(code)
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  call tutti_range_push("inner", code)
  if (code /= tutti_success) error stop "tutti_range_push"
  x = 1
  call tutti_allreduce(comm, x, tutti_sum)
  call tutti_range_pop()
  call tutti_range_pop(code)
  if (code /= tutti_success) error stop "tutti_range_pop"
  call tutti_comm_free(comm)
  call MPI_Finalize(code)
end program traced_ranges
