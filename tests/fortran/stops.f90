! SPDX-License-Identifier: BSD-3-Clause
!> Without ierror a failure ends the program with the message.
program stops
  use mpi_f08
  use tutti
  implicit none
  type(tutti_comm) :: comm
  real :: x
  call MPI_Init()
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  call tutti_bcast(comm, x, 99)
  print '(a)', "came here"
  call MPI_Finalize()
end program stops
