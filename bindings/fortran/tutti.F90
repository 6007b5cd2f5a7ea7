! SPDX-License-Identifier: BSD-3-Clause
!> The Fortran interface. Procedures have the names of the C functions, and the documentation of the C++ functions of
!> the same word holds here too (include/tutti/collectives/allreduce.hpp for tutti_allreduce). Fortran adds these rules:
!>
!> Arrays: pass any kind of integer, real, complex, logical and character, of any rank, including scalars; type, kind and
!> number of elements come from the array. Strings count in characters, as MPI_CHARACTER does. minloc and maxloc take
!> integers and reals whose first dimension is 2, value and index, as MPI_2INTEGER and its like do; counts are then in
!> pairs. A section need not be contiguous, except in nonblocking and persistent reductions, scans and
!> v-forms, which refuse it. An array that is not allocated or not associated is refused. tutti_in_place replaces a buffer, as MPI_IN_PLACE does. Pass all other data by address:
!> type(c_ptr), count, datatype.
!> Without a tag, a message has tag 0. Pass `options` and `ierror` of a reduction only if they are there: an optional
!> argument of your own procedure that is absent cannot be passed on.
!> Device memory: arrays inside host_data use_device (OpenACC) and target data use_device_addr (OpenMP) are passed by
!> address, and no element is read; the same holds for addresses. Sections there that are not contiguous are refused.
!> Streams are type(c_ptr) in the options. Declare buffers of nonblocking and persistent calls `asynchronous` (or
!> `target`).
!> tutti_allocate(comm, array, shape) associates a pointer, contiguous :: array(:) with zeroed memory that the ranks of
!> a node share (integer, real, complex; 32 and 64 bits; ranks 1 to 3); tutti_allocate(comm, bytes, data) gives the
!> address of such memory. tutti_deallocate frees either.
!> Training: parameters are arrays of reals of any rank. Their last dimension is the first dimension of the shape in C
!> and C++, so the columns of a matrix here are its rows there.
!> Ranks and displacements start at 0, as in MPI. The index of tutti_waitany, parameters of a reducer, tables, their
!> rows and columns, slots and samples start at 1.
!> Errors: `ierror`, last and optional, gets the code, and tutti_error_message() gives the text. Without `ierror` a
!> failure ends the program by `error stop` with the text.
module tutti
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private

  !> The types of mpi_f08: a type with this name, BIND(C) and this component is the same type. Handles are MPI_Fint,
  !> whatever a default integer is where this module is compiled.
  type, bind(C) :: MPI_Comm
    integer(c_int) :: MPI_VAL
  end type
  type, bind(C) :: MPI_Datatype
    integer(c_int) :: MPI_VAL
  end type
  type, bind(C) :: MPI_Op
    integer(c_int) :: MPI_VAL
  end type

  !> A group of ranks that communicate. Counterpart: MPI_Comm.
  type, bind(C), public :: tutti_comm
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> A running or persistent operation. Counterpart: MPI_Request.
  type, bind(C), public :: tutti_request
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> Sends and receives that are posted together.
  type, bind(C), public :: tutti_group
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> Captured work on a device. Counterpart: tutti::DeviceGraph, cudaGraphExec_t.
  type, bind(C), public :: tutti_device_graph
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

  !> The result of a receive. Counterpart: MPI_Status.
  type, bind(C), public :: tutti_status
    integer(c_int) :: source = -1
    integer(c_int) :: tag = -1
    integer(c_size_t) :: count = 0 !< length of the message, in elements
  end type

  !> A sum that is not yet rounded; tutti_accumulator_clear makes one of no elements. Counterpart: tutti::ExactSum.
  type, bind(C), public :: tutti_accumulator
    private
    integer(c_int64_t) :: state(140) = 0
  end type

  !> The options of a call.
  type, public :: tutti_options
    integer :: stream_kind = 0 !< tutti_stream_none, tutti_stream_cuda
    type(c_ptr) :: stream = c_null_ptr
    integer :: memory = 0 !< tutti_memory_...; kind of all buffers of the call
    integer :: accumulation = 0 !< tutti_accumulation_full, ..._backend, ..._exact
    logical :: reproducible = .false. !< one order of association for any algorithm, size and layout
    real(c_double) :: timeout = 0 !< in seconds; 0: the communicator's timeout
    character(len=64) :: algorithm = "" !< "ring", "mpi:ring", "native", ...; blank: the planner chooses
  end type

  !> The options of a communicator; equal on all ranks.
  type, public :: tutti_comm_options
    logical :: reproducible = .false. !< makes every call reproducible
    real(c_double) :: timeout = 0 !< timeout of every call that sets none, in seconds; 0: no timeout
    logical :: native_blocking = .false. !< lets blocking calls block inside the host MPI's own collective
    character(len=64) :: name = "" !< name of the communicator in messages
    integer :: check = 0 !< tutti_check_off, tutti_check_calls, tutti_check_bytes
  end type

  !> Passed in place of a buffer, makes a collective work in place. By address: c_loc(tutti_in_place).
  integer(c_int), bind(C, name="tutti_fortran_in_place"), target, public :: tutti_in_place = 0

  abstract interface
    !> A user's reduction for tutti_op_user: computes inout(i) = in(i) op inout(i); `in` comes from the lower rank.
    subroutine tutti_user_function(in, inout, count, datatype, context) bind(C)
      import
      type(c_ptr), value :: in, inout, context
      integer(c_size_t), value :: count
      integer(c_int64_t), value :: datatype
    end subroutine
  end interface
  public :: tutti_user_function

  abstract interface
    !> Puts work on a stream, for tutti_device_graph_capture; returns tutti_success, or the code of the call that failed.
    integer(c_int) function tutti_enqueue(context) bind(C)
      import
      type(c_ptr), value :: context
    end function
  end interface
  public :: tutti_enqueue

#include "generated.inc"
  include "src/private.inc"
  include "src/names.inc"
#ifdef TUTTI_HAS_TRAINING
  include "src/training_types.inc"
  include "src/embedding_types.inc"
  include "src/training_names.inc"
#endif

contains

  include "src/support.inc"
  include "src/library.inc"
  include "src/layouts.inc"
  include "src/communicator.inc"
  include "src/requests.inc"
  include "src/memory.inc"
  include "src/exact.inc"
  include "src/device.inc"
#ifdef TUTTI_HAS_TRAINING
  include "src/reducer.inc"
  include "src/optimizer.inc"
  include "src/server.inc"
  include "src/embedding.inc"
  include "src/embedding_step.inc"
#endif
#define TUTTI_PROCEDURES
#include "generated.inc"

end module tutti
