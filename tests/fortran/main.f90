! SPDX-License-Identifier: BSD-3-Clause
!> tutti_fortran_tests: on all ranks, then on two halves whose ranks are in reversed order.
program tutti_fortran_tests
  use mpi_f08
  use tutti
  use check
  use reductions
  use movement
  use varying
  use neighborhood
  use arrays
  use exact
  use forms
  use messages
  use host
  use shared
  use device
  use others
#ifdef TUTTI_HAS_TRAINING
  use training
  use embedding
#endif
  implicit none
  type(tutti_comm) :: world, half
  type(group) :: whole
  integer :: code

  call tutti_comm_duplicate(MPI_COMM_WORLD, world, ierror=code)
  call expect_failure(code, tutti_error_finalized, "MPI_Init")
  call MPI_Init()
  call tutti_comm_duplicate(MPI_COMM_WORLD, world)
  whole = group_on(world)
  call tutti_comm_split(world, modulo(whole%rank, 2), -whole%rank, half)
  call run(whole)
  call run(group_on(half))
  call tutti_comm_free(half)
  call tutti_allreduce(world, failures, tutti_sum)
  call tutti_comm_free(world)
  if (whole%rank == 0) print '(2(i0, a))', failures, " failures, integers of ", storage_size(failures)/8, " bytes"
  call MPI_Finalize()
  if (failures > 0) error stop 1

contains

  subroutine run(g)
    type(group), intent(in) :: g
    call test_reductions(g)
    call test_movement(g)
    call test_varying(g)
    call test_neighborhood(g)
    call test_arrays(g)
    call test_exact(g)
    call test_forms(g)
    call test_messages(g)
    call test_host(g)
    call test_memory(g)
    call test_device(g)
#ifdef TUTTI_HAS_TRAINING
    call test_training(g)
    call test_embedding(g)
#endif
    call test_requests(g)
    call test_operations(g)
    call test_options(g)
    call test_communicators(g)
    call test_errors(g)
  end subroutine run

end program tutti_fortran_tests
