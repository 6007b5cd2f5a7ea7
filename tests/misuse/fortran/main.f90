! SPDX-License-Identifier: BSD-3-Clause
program fortran_misuse
  use misuse
  use misused_handles
  use misused_arguments
  use disagreements
  implicit none
  integer :: total, ignored
  call MPI_Init()
  call tutti_comm_duplicate(MPI_COMM_WORLD, world)
  call tutti_comm_rank(world, rank)
  call tutti_comm_size(world, ranks)
  ignored = alarm(10)
  call try_handles()
  call try_arguments()
  call try_disagreements()
  ignored = alarm(0)
  call tutti_comm_free(world)
  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a)', total, " failures"
  call MPI_Finalize()
  if (total > 0) error stop 1
end program fortran_misuse
