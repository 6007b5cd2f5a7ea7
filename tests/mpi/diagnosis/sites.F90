! SPDX-License-Identifier: BSD-3-Clause
!> The twin of sites.c in Fortran: one rank gives its place, the others leave it to the stack. Before it, a message of
!> another datatype than that of its receive.
program sites
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use tutti
  implicit none
  type(tutti_comm) :: comm
  type(tutti_comm_options) :: options
  integer :: rank, ranks, code, bad, line_of_step, line_of_init
  real :: x(4)
  character(len=:), allocatable :: text, place
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  options%check = tutti_check_calls
  options%timeout = 20
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm, options)
  x = 1
  bad = exchange()
  line_of_init = 0
  line_of_step = 0
  if (rank + 1 == ranks) then
    line_of_init = __LINE__ + 1
    call tutti_at(__FILE__, __LINE__, "sites")
    call tutti_bcast(comm, x, 0, ierror=code)
    place = " at sites.F90:"//number(line_of_init)//" in sites()"
  else
    line_of_step = __LINE__ + 1
    call tutti_allreduce(comm, x, tutti_sum, ierror=code)
    place = " at sites.F90:"//number(line_of_step)//" in "
  end if
  text = tutti_error_message()
  if (code /= tutti_error_mismatch .or. index(text, place) == 0) bad = 1
  if (bad /= 0) write (error_unit, '(5a)') text, new_line("a"), "wanted:", place
  call tutti_comm_free(comm)
  call MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (bad /= 0) stop 1

contains

  !> The last rank sends to the first; 1 if that rank was told something else than the two datatypes.
  function exchange() result(bad)
    integer :: bad, code
    double precision :: y(2)
    character(len=:), allocatable :: text, sends, receives
    bad = 0
    if (rank + 1 == ranks) call tutti_send(comm, x, 0, 5)
    if (rank /= 0) return
    receives = "rank 0 receives float64 (count 2) at sites.F90:"//number(__LINE__ + 1)//" in "
    call tutti_recv(comm, y, ranks - 1, 5, ierror=code)
    sends = "rank "//number(ranks - 1)//" sends float32 (count 4) at sites.F90:"
    text = tutti_error_message()
    if (code /= tutti_error_mismatch .or. index(text, sends) == 0 .or. index(text, receives) == 0) bad = 1
    if (bad /= 0) write (error_unit, '(6a)') text, new_line("a"), "wanted: ", sends, " ", receives
  end function exchange

  function number(value) result(digits)
    integer, intent(in) :: value
    character(len=:), allocatable :: digits
    character(len=16) :: buffer
    write (buffer, '(i0)') value
    digits = trim(buffer)
  end function number
end program sites
