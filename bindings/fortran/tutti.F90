! SPDX-License-Identifier: BSD-3-Clause
!> The Fortran interface. Procedures have the names of C and mean what the C++ text of the same word says
!> (include/tutti/collectives/allreduce.hpp for tutti_allreduce). What is special here:
!>
!> Arrays: any type of integer, real, complex and logical, any rank, scalars too; type, kind and number of elements come
!> from the array. A section that is not contiguous is packed in blocking calls and refused in the others. tutti_in_place
!> stands for a buffer as MPI_IN_PLACE does. Everything else goes by address: type(c_ptr), count, datatype.
!> Device memory: arrays inside host_data use_device (OpenACC) and target data use_device_addr (OpenMP) are passed on by
!> their addresses, without a look at an element; so are addresses. Sections that are not contiguous are refused there.
!> Streams are type(c_ptr) in the options. Buffers of nonblocking and persistent calls should be `asynchronous` (or `target`) where they are declared.
!> tutti_allocate(comm, array, shape) associates a pointer, contiguous :: array(:) with zeroed memory that the ranks of a
!> node share (integer, real, complex; 32 and 64 bits; ranks 1 to 3); tutti_allocate(comm, bytes, data) gives its
!> address. tutti_deallocate returns either.
!> Training: parameters are arrays of reals of any rank. Their last dimension is the first of the shape that C and C++
!> see, so a matrix has the rows there that are its columns here.
!> Ranks and displacements are from 0, as in MPI; the index of tutti_waitany, parameters of a reducer, tables, their rows
!> and columns, slots and samples are from 1.
!> Errors: `ierror`, last and optional, gets the code and tutti_error_message() the text; without it a failure ends the
!> program by `error stop` with the text.
module tutti
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private

  !> Equal to mpi_f08's: a type with this name, BIND(C) and this component is that type.
  type, bind(C) :: MPI_Comm
    integer :: MPI_VAL
  end type

  !> A group of ranks to communicate in. Counterpart: MPI_Comm.
  type, bind(C), public :: tutti_comm
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> One running or one persistent operation. Counterpart: MPI_Request.
  type, bind(C), public :: tutti_request
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> Sends and receives that are posted as one.
  type, bind(C), public :: tutti_group
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> An element type, for calls by address. Counterpart: MPI_Datatype.
  type, bind(C), public :: tutti_datatype
    integer(c_int64_t) :: handle = 0
  end type

  !> A reduction. Counterpart: MPI_Op.
  type, bind(C), public :: tutti_op
    integer(c_int64_t) :: handle = 0
  end type

  !> What a receive found. Counterpart: MPI_Status.
  type, bind(C), public :: tutti_status
    integer(c_int) :: source = -1
    integer(c_int) :: tag = -1
    integer(c_size_t) :: count = 0 !< elements
  end type

  !> What a call may be told beside its arguments.
  type, public :: tutti_options
    integer :: stream_kind = 0 !< tutti_stream_none, tutti_stream_cuda
    type(c_ptr) :: stream = c_null_ptr
    integer :: memory = 0 !< tutti_memory_...: of all buffers of the call
    integer :: accumulation = 0 !< tutti_accumulation_full, tutti_accumulation_backend
    logical :: reproducible = .false. !< one association order, whatever algorithm, size and layout
    real(c_double) :: timeout = 0 !< seconds; 0: the communicator's
    character(len=64) :: algorithm = "" !< blank: the planner's choice; else "ring", "mpi:ring", "native", ...
  end type

  !> Of a communicator; equal on all ranks.
  type, public :: tutti_comm_options
    logical :: reproducible = .false. !< of every call
    real(c_double) :: timeout = 0 !< seconds, of every call that names none; 0: none
    logical :: native_blocking = .false. !< blocking calls may block inside the host MPI's own collective
    character(len=64) :: name = "" !< used in messages
  end type

  include "src/training_types.inc"
  include "src/embedding_types.inc"

  !> As a buffer of a collective: work in place. By address: c_loc(tutti_in_place).
  integer(c_int), bind(C, name="tutti_fortran_in_place"), target, public :: tutti_in_place = 0

  abstract interface
    !> A user's combination for tutti_op_user: inout(i) = in(i) op inout(i), where `in` belongs to the lower rank.
    subroutine tutti_user_function(in, inout, count, datatype, context) bind(C)
      import
      type(c_ptr), value :: in, inout, context
      integer(c_size_t), value :: count
      integer(c_int64_t), value :: datatype
    end subroutine
  end interface
  public :: tutti_user_function

  include "generated/constants.inc"
  include "src/private.inc"
  include "generated/interfaces.inc"
  include "src/generics.inc"
  include "src/training_generics.inc"
  include "src/embedding_generics.inc"
  include "generated/generics.inc"
  include "generated/point_to_point_generics.inc"
  include "generated/memory_generics.inc"

contains

  include "src/support.inc"
  include "src/library.inc"
  include "src/operations.inc"
  include "src/communicator.inc"
  include "src/requests.inc"
  include "src/group.inc"
  include "src/memory.inc"
  include "src/reducer.inc"
  include "src/optimizer.inc"
  include "src/server.inc"
  include "src/embedding.inc"
  include "src/embedding_rows.inc"
  include "src/embedding_step.inc"
  include "generated/barrier.inc"
  include "generated/bcast.inc"
  include "generated/reduce.inc"
  include "generated/allreduce.inc"
  include "generated/reduce_scatter.inc"
  include "generated/reduce_scatter_block.inc"
  include "generated/gather.inc"
  include "generated/gatherv.inc"
  include "generated/scatter.inc"
  include "generated/scatterv.inc"
  include "generated/allgather.inc"
  include "generated/allgatherv.inc"
  include "generated/alltoall.inc"
  include "generated/alltoallv.inc"
  include "generated/scan.inc"
  include "generated/exscan.inc"
  include "generated/point_to_point.inc"
  include "generated/memory_integer.inc"
  include "generated/memory_real.inc"
  include "generated/memory_complex.inc"

end module tutti
