! SPDX-License-Identifier: BSD-3-Clause
!> Tell view.c the addresses of MPI_IN_PLACE, which a program may pass for tutti_in_place: the modules mpi and mpi_f08
!> may each have a variable of their own.
subroutine tutti_fortran_find_in_place() bind(C)
#ifdef TUTTI_HAVE_MPI_MODULE
  use mpi, only: MPI_IN_PLACE
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  interface
    subroutine note(address) bind(C, name="tutti_fortran_note_in_place")
      type(*), intent(in) :: address
    end subroutine note
  end interface
  call note(MPI_IN_PLACE)
end subroutine tutti_fortran_find_in_place

subroutine tutti_fortran_find_in_place_f08() bind(C)
#ifdef TUTTI_HAVE_MPI_F08_MODULE
  use mpi_f08, only: MPI_IN_PLACE
  implicit none
  interface
    subroutine note(address) bind(C, name="tutti_fortran_note_in_place")
      type(*), intent(in) :: address
    end subroutine note
  end interface
  call note(MPI_IN_PLACE)
#endif
end subroutine tutti_fortran_find_in_place_f08
