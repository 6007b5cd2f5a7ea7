! SPDX-License-Identifier: BSD-3-Clause
!> Global sums that do not depend on the decomposition, by the calls that climate codes know: shr_reprosum_calc of CESM
!> and E3SM, mpas_global_sum, and CICE's global_sum and global_sum_prod. The sums are exact and rounded once (module
!> tutti, tutti_exact_sum), so that they have the same bits on any number of ranks, in any decomposition and order.
!>
!> All calls are collective and blocking. Arrays are real, of 32 or 64 bits and any rank; sections may be strided.
!> Without `comm` a call is made on the default communicator: that of tutti_reprosum_init, else a duplicate of
!> MPI_COMM_WORLD, which the first call makes. Errors as in module tutti. Counterpart: tutti::exact_sum.
module tutti_reprosum
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use tutti
  implicit none
  private
  public :: tutti_reprosum_init, tutti_reprosum_final, tutti_reprosum_calc
  public :: tutti_global_sum, tutti_global_sums, tutti_global_sum_prod, tutti_global_mean

  type(tutti_comm), save :: default_comm

  !> Sums each column of an array: arr_gsum(f) = the sum of arr(1:nsummands, f) over all ranks.
  interface tutti_reprosum_calc
    procedure :: calc_real64, calc_real32
  end interface

  interface
    integer(c_int) function world_handle() bind(C, name="tutti_fortran_world")
      import
    end function
  end interface

contains

  !> Makes the default communicator of an MPI communicator, an integer handle. Collective.
  subroutine tutti_reprosum_init(mpi_comm, ierror)
    integer, intent(in) :: mpi_comm
    integer, intent(out), optional :: ierror
    call tutti_reprosum_final()
    call tutti_comm_duplicate(mpi_comm, default_comm, ierror=ierror)
  end subroutine tutti_reprosum_init

  !> Frees the default communicator, if there is one. Collective; before MPI_Finalize, or never.
  subroutine tutti_reprosum_final(ierror)
    integer, intent(out), optional :: ierror
    call tutti_comm_free(default_comm, ierror=ierror)
  end subroutine tutti_reprosum_final

  !> The caller's communicator, or the default one.
  function chosen(comm) result(found)
    type(tutti_comm), intent(in), optional :: comm
    type(tutti_comm) :: found
    if (present(comm)) then
      found = comm
      return
    end if
    if (.not. is_made(default_comm)) call tutti_comm_duplicate(int(world_handle()), default_comm)
    found = default_comm
  end function chosen

  logical function is_made(comm)
    use, intrinsic :: iso_c_binding, only: c_associated
    type(tutti_comm), intent(in) :: comm
    is_made = c_associated(comm%handle)
  end function is_made

  subroutine calc_real64(arr, arr_gsum, nsummands, dsummands, nflds, comm, ierror)
    integer, intent(in) :: nsummands !< elements of each field on this rank
    integer, intent(in) :: dsummands !< first extent of arr
    integer, intent(in) :: nflds !< number of fields, equal on all ranks
    real(real64), intent(in), asynchronous :: arr(dsummands, nflds)
    real(real64), intent(out), asynchronous :: arr_gsum(nflds)
    type(tutti_comm), intent(in), optional :: comm
    integer, intent(out), optional :: ierror
    call tutti_exact_sum(chosen(comm), arr(:nsummands, :), arr_gsum, ierror=ierror)
  end subroutine calc_real64

  subroutine calc_real32(arr, arr_gsum, nsummands, dsummands, nflds, comm, ierror)
    integer, intent(in) :: nsummands, dsummands, nflds
    real(real32), intent(in), asynchronous :: arr(dsummands, nflds)
    real(real32), intent(out), asynchronous :: arr_gsum(nflds)
    type(tutti_comm), intent(in), optional :: comm
    integer, intent(out), optional :: ierror
    call tutti_exact_sum(chosen(comm), arr(:nsummands, :), arr_gsum, ierror=ierror)
  end subroutine calc_real32

  !> The sum of a field over all ranks, of its products with real weights, and where the logical mask is true.
  function tutti_global_sum(field, weights, mask, comm, ierror) result(total)
    type(*), dimension(..), intent(in), asynchronous :: field
    type(*), dimension(..), intent(in), asynchronous, optional :: weights, mask
    type(tutti_comm), intent(in), optional :: comm
    integer, intent(out), optional :: ierror
    real(real64), asynchronous :: total
    total = 0
    call tutti_exact_sum(chosen(comm), field, total, weights, mask, ierror=ierror)
  end function tutti_global_sum

  !> The sums of several fields in one message: totals(f) is that of the f-th equal part of the fields, such as
  !> fields(:, :, f). weights and mask are those of one field, or of all.
  subroutine tutti_global_sums(fields, totals, weights, mask, comm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: fields
    real(real64), contiguous, intent(inout), asynchronous :: totals(:)
    type(*), dimension(..), intent(in), asynchronous, optional :: weights, mask
    type(tutti_comm), intent(in), optional :: comm
    integer, intent(out), optional :: ierror
    call tutti_exact_sum(chosen(comm), fields, totals, weights, mask, ierror=ierror)
  end subroutine tutti_global_sums

  !> The sum of the exact products of two fields of one kind.
  function tutti_global_sum_prod(a, b, mask, comm, ierror) result(total)
    type(*), dimension(..), intent(in), asynchronous :: a, b
    type(*), dimension(..), intent(in), asynchronous, optional :: mask
    type(tutti_comm), intent(in), optional :: comm
    integer, intent(out), optional :: ierror
    real(real64), asynchronous :: total
    total = 0
    call tutti_exact_sum(chosen(comm), a, total, b, mask, ierror=ierror)
  end function tutti_global_sum_prod

  !> The mean of a field, by weights such as the areas of cells, where the mask is true; NaN where it is nowhere.
  function tutti_global_mean(field, weights, mask, comm, ierror) result(mean)
    type(*), dimension(..), intent(in), asynchronous :: field
    type(*), dimension(..), intent(in), asynchronous, optional :: weights, mask
    type(tutti_comm), intent(in), optional :: comm
    integer, intent(out), optional :: ierror
    real(real64), asynchronous :: mean
    mean = 0
    call tutti_exact_mean(chosen(comm), field, mean, weights, mask, ierror=ierror)
  end function tutti_global_mean

end module tutti_reprosum
