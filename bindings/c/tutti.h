/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

/// The C interface. Every function corresponds to the C++ function of the same word (tutti_allreduce to
/// tutti/collectives/allreduce.hpp, ...), whose documentation of shapes, ownership, memory and errors holds here too.
///
/// A function that can fail returns TUTTI_SUCCESS or a TUTTI_ERROR_ code; tutti_error_message() then gives the text.
/// Handles are opaque; the free functions set them to NULL. Counts and displacements are in elements; displacements and
/// ranks start at 0, as in MPI. NULL as `options` means the defaults. MPI must be initialised; the library needs no
/// initialisation of its own. Threads: one thread at a time uses a communicator and the objects made from it; under
/// MPI_THREAD_MULTIPLE, different communicators may be used concurrently.
#include <stddef.h>
#include <stdint.h>
#include <tutti/mpi_header.h>
#include <tutti/parts.h>

#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 3
#define TUTTI_VERSION_PATCH 0
#define TUTTI_VERSION_STRING "0.3.0"

#if defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#else
#define TUTTI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The result of a function. Counterpart: tutti::ErrorCode.
enum {
  TUTTI_SUCCESS = 0,
  TUTTI_ERROR_INVALID_ARGUMENT = 1,
  TUTTI_ERROR_INVALID_COMMUNICATOR = 2,
  TUTTI_ERROR_INVALID_DATATYPE = 3,
  TUTTI_ERROR_INVALID_OP = 4,
  TUTTI_ERROR_INVALID_REQUEST = 5,
  TUTTI_ERROR_INVALID_ALGORITHM = 6,
  TUTTI_ERROR_NOT_SUPPORTED = 7,
  TUTTI_ERROR_NOT_BUILT = 8,
  TUTTI_ERROR_MPI = 9,
  TUTTI_ERROR_TIMEOUT = 10,
  TUTTI_ERROR_ABORTED = 11,
  TUTTI_ERROR_TRUNCATED = 12,
  TUTTI_ERROR_OUT_OF_MEMORY = 13,
  TUTTI_ERROR_INDEX_OUT_OF_RANGE = 14,
  TUTTI_ERROR_MISMATCH = 15,
  TUTTI_ERROR_IO = 16,
  TUTTI_ERROR_FINALIZED = 17,
  TUTTI_ERROR_CUDA = 18,
  TUTTI_ERROR_NCCL = 19,
  TUTTI_ERROR_INTERNAL = 20,
  TUTTI_ERROR_PEER_DIED = 21
};

/// The element types. tutti_datatype_bytes(n) makes a type of n opaque bytes. Counterpart: tutti::DatatypeKind.
typedef int64_t tutti_datatype_t;
enum {
  TUTTI_DATATYPE_NULL = 0,
  TUTTI_INT8 = 1,
  TUTTI_INT16 = 2,
  TUTTI_INT32 = 3,
  TUTTI_INT64 = 4,
  TUTTI_UINT8 = 5,
  TUTTI_UINT16 = 6,
  TUTTI_UINT32 = 7,
  TUTTI_UINT64 = 8,
  TUTTI_FLOAT8_E4M3 = 9,
  TUTTI_FLOAT8_E5M2 = 10,
  TUTTI_FLOAT16 = 11,
  TUTTI_BFLOAT16 = 12,
  TUTTI_FLOAT32 = 13,
  TUTTI_FLOAT64 = 14,
  TUTTI_COMPLEX64 = 15,       /* two float32 */
  TUTTI_COMPLEX128 = 16,      /* two float64 */
  TUTTI_FLOAT32_INT32 = 17,   /* value-index pair, layout of MPI_FLOAT_INT */
  TUTTI_FLOAT64_INT32 = 18,   /* value-index pair, layout of MPI_DOUBLE_INT (16 bytes) */
  TUTTI_INT32_INT32 = 19,     /* value-index pair, layout of MPI_2INT and MPI_2INTEGER */
  TUTTI_INT64_INT32 = 20,     /* value-index pair, layout of MPI_LONG_INT (16 bytes) */
  TUTTI_INT64_INT64 = 21,     /* value-index pair */
  TUTTI_FLOAT64_INT64 = 22,   /* value-index pair */
  TUTTI_FLOAT32_FLOAT32 = 23, /* value-index pair of Fortran, MPI_2REAL */
  TUTTI_FLOAT64_FLOAT64 = 24, /* value-index pair of Fortran, MPI_2DOUBLE_PRECISION */
  TUTTI_LOGICAL8 = 25,        /* Fortran logical of 1 byte; zero is false, anything else is true */
  TUTTI_LOGICAL16 = 26,
  TUTTI_LOGICAL32 = 27, /* Fortran's default logical */
  TUTTI_LOGICAL64 = 28,
  TUTTI_BYTE = 29 /* one opaque byte */
};

/// The reductions. tutti_op_premul_sum and tutti_op_user make more. Counterpart: tutti::ReduceKind.
typedef int64_t tutti_op_t;
enum {
  TUTTI_OP_NULL = 0,
  TUTTI_SUM = 1,
  TUTTI_PROD = 2,
  TUTTI_MIN = 3,
  TUTTI_MAX = 4,
  TUTTI_AVG = 5,
  TUTTI_LAND = 7,
  TUTTI_LOR = 8,
  TUTTI_LXOR = 9,
  TUTTI_BAND = 10,
  TUTTI_BOR = 11,
  TUTTI_BXOR = 12,
  TUTTI_MINLOC = 13,
  TUTTI_MAXLOC = 14
};

/// A group of ranks that communicate. Counterpart: tutti::Communicator, MPI_Comm.
typedef struct tutti_comm_s* tutti_comm_t;
#define TUTTI_COMM_NULL ((tutti_comm_t)0)

/// A running or persistent operation. Counterpart: tutti::Request, MPI_Request.
typedef struct tutti_request_s* tutti_request_t;
#define TUTTI_REQUEST_NULL ((tutti_request_t)0)

/// Sends and receives that are posted together. Counterpart: tutti::Group.
typedef struct tutti_group_s* tutti_group_t;
#define TUTTI_GROUP_NULL ((tutti_group_t)0)

/// The order of the dimensions of an array. Counterpart: tutti::ArrayOrder, MPI_ORDER_C, MPI_ORDER_FORTRAN.
enum { TUTTI_ORDER_C = 0, TUTTI_ORDER_FORTRAN = 1 };

/// Passed in place of a buffer, makes a collective work in place. Calls take MPI_IN_PLACE too. Counterpart:
/// MPI_IN_PLACE.
#define TUTTI_IN_PLACE ((void*)-1)

/// Wildcards for receives, and the null peer. Calls take MPI_ANY_SOURCE, MPI_ANY_TAG and MPI_PROC_NULL too; a status
/// has TUTTI_PROC_NULL. No MPI has constants of these values. Counterpart: MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL.
enum { TUTTI_ANY_SOURCE = -30101, TUTTI_ANY_TAG = -30102, TUTTI_PROC_NULL = -30103 };

/// The index from tutti_waitany if no request is active: the number of MPI_UNDEFINED in MPICH, Open MPI and MPI 5's
/// ABI.
enum { TUTTI_UNDEFINED = -32766 };

/// The ownership of the caller's handle. Counterparts: duplicate, adopt and borrow of Communicator.
enum { TUTTI_COMM_DUPLICATE = 1, TUTTI_COMM_ADOPT = 2, TUTTI_COMM_BORROW = 3 };

/// The forms of a collective: tutti_allreduce, tutti_iallreduce, tutti_allreduce_init. Counterpart: tutti::CallForm.
enum { TUTTI_CALL_BLOCKING = 0, TUTTI_CALL_NONBLOCKING = 1, TUTTI_CALL_PERSISTENT = 2 };

/// The kinds of memory. Counterpart: tutti::MemoryKind.
enum {
  TUTTI_MEMORY_DETECT = 0,
  TUTTI_MEMORY_HOST = 1,
  TUTTI_MEMORY_PINNED = 2,
  TUTTI_MEMORY_DEVICE = 3,
  TUTTI_MEMORY_MANAGED = 4
};

/// The kind of the stream that orders a call on device memory. Without a stream the caller has synchronised the buffers
/// before the call, and the call returns when it is done. TUTTI_STREAM_NONE is not the default stream, which is
/// TUTTI_STREAM_CUDA with handle NULL. Calls on host buffers ignore the stream. Counterpart: tutti::StreamKind.
enum { TUTTI_STREAM_NONE = 0, TUTTI_STREAM_CUDA = 1 };

/// The way to sum floating-point numbers: FULL adds those of 16 and 8 bits in float32 and rounds once, BACKEND leaves
/// these to the backend; EXACT adds all without rounding and rounds once, so that the order of the ranks does not
/// matter. Counterpart: tutti::Accumulation.
enum { TUTTI_ACCUMULATION_FULL = 0, TUTTI_ACCUMULATION_BACKEND = 1, TUTTI_ACCUMULATION_EXACT = 2 };

/// The result of a receive. Pass NULL to ignore it. Counterpart: tutti::Status, MPI_Status.
typedef struct tutti_status {
  int source;
  int tag;
  size_t count; /* elements received */
} tutti_status_t;

/// The options of a call. Initialise with TUTTI_OPTIONS_INIT. Counterpart: tutti::Options.
typedef struct tutti_options {
  size_t size;           /* sizeof(tutti_options_t) */
  int32_t version;       /* TUTTI_OPTIONS_VERSION */
  int32_t stream_kind;   /* TUTTI_STREAM_ */
  void* stream;          /* a cudaStream_t; read with TUTTI_STREAM_CUDA only */
  int32_t memory;        /* TUTTI_MEMORY_: of all buffers of the call */
  int32_t accumulation;  /* TUTTI_ACCUMULATION_ */
  int32_t reproducible;  /* one association order, whatever algorithm, size and layout */
  double timeout;        /* seconds; 0: the communicator's */
  const char* algorithm; /* NULL: the planner's choice; else "ring", "mpi:ring", "native", ... */
} tutti_options_t;
#define TUTTI_OPTIONS_VERSION 1
#define TUTTI_OPTIONS_INIT                                                                        \
  {                                                                                               \
    sizeof(tutti_options_t), TUTTI_OPTIONS_VERSION, TUTTI_STREAM_NONE, NULL, TUTTI_MEMORY_DETECT, \
        TUTTI_ACCUMULATION_FULL, 0, 0.0, NULL                                                     \
  }

/// The options of a communicator; equal on all ranks. Initialise with TUTTI_COMM_OPTIONS_INIT. Counterpart:
/// tutti::CommunicatorOptions.
typedef struct tutti_comm_options {
  size_t size;             /* sizeof(tutti_comm_options_t) */
  int32_t version;         /* TUTTI_COMM_OPTIONS_VERSION */
  int32_t reproducible;    /* of every call */
  double timeout;          /* seconds, of every call that names none; 0: none */
  int32_t native_blocking; /* blocking calls may block inside the host MPI's own collective */
  const char* name;        /* used in messages; NULL: none */
  int32_t check;           /* TUTTI_CHECK_...; since version 2 */
} tutti_comm_options_t;
#define TUTTI_COMM_OPTIONS_VERSION 2
#define TUTTI_COMM_OPTIONS_INIT \
  { sizeof(tutti_comm_options_t), TUTTI_COMM_OPTIONS_VERSION, 0, 0.0, 0, NULL, TUTTI_CHECK_OFF }

/// Check mode of a communicator. Counterpart: tutti::CheckMode.
enum { TUTTI_CHECK_OFF = 0, TUTTI_CHECK_CALLS = 1, TUTTI_CHECK_BYTES = 2 };

/// A user's reduction: computes inout[i] = in[i] op inout[i]; `in` comes from the lower rank. It must be associative
/// and must not call Tutti or MPI. Counterpart: tutti::UserFunction, MPI_User_function.
typedef void (*tutti_user_function_t)(const void* in, void* inout, size_t count, tutti_datatype_t datatype,
                                      void* context);

/// The version of the library, as TUTTI_VERSION_STRING. Local.
TUTTI_API const char* tutti_version(void);

/// Advances all outstanding operations of this process without blocking. Local.
TUTTI_API int tutti_progress(void);

/// Gives the place of this thread's next call, for the texts of check mode. Copies the texts, which may be NULL. Local.
/// A program that defines TUTTI_CALL_SITES before it includes this header gives the place of every call. Counterpart:
/// tutti::at.
TUTTI_API int tutti_at(const char* file, int line, const char* function);

/// Opens a range of this thread: a named part of the program, in the trace of TUTTI_TRACE and in NVIDIA's tools. Ranges
/// nest. Copies the name. Local; needs no MPI. Counterpart: tutti::Range, nvtxRangePush.
TUTTI_API int tutti_range_push(const char* name);

/// Closes the range that this thread opened last; TUTTI_ERROR_INVALID_ARGUMENT if none is open. Local. Counterpart:
/// nvtxRangePop.
TUTTI_API int tutti_range_pop(void);

/// The short text of a code: "invalid argument". Local; never NULL. Counterpart: MPI_Error_string.
TUTTI_API const char* tutti_error_string(int code);

/// The message of the latest failure in the calling thread; it names the argument, the rank and the remedy. Local;
/// never NULL; valid until the next failure in this thread.
TUTTI_API const char* tutti_error_message(void);

/// Sets the message that tutti_error_message() gives and returns `code`, for interfaces on top of this one that check
/// arguments themselves. Local.
TUTTI_API int tutti_error_set(int code, const char* message);

/// Gives the kind of memory (TUTTI_MEMORY_) that holds an address: host, pinned, device or managed; host if this
/// process does not use CUDA. Local. Counterpart: cudaPointerGetAttributes.
TUTTI_API int tutti_memory_kind(const void* address, int* kind);

/// Makes the type of `count` opaque bytes, count > 0, for moving data and for user operations. Local. Counterpart:
/// Datatype::bytes.
TUTTI_API tutti_datatype_t tutti_datatype_bytes(size_t count);

/// Gives the size of an element, padding included, in bytes. Local.
TUTTI_API int tutti_datatype_size(tutti_datatype_t datatype, size_t* size);

/// The name in messages: "float32"; "unknown datatype" or "unknown operation" for an unknown value. Local.
TUTTI_API const char* tutti_datatype_name(tutti_datatype_t datatype);
TUTTI_API const char* tutti_op_name(tutti_op_t op);

/// Give the datatype and the operation of MPI's predefined ones: MPI_DOUBLE gives TUTTI_FLOAT64. A derived type without
/// gaps gives tutti_datatype_bytes(n), for moving data. Local; MPI must be running. Errors:
/// TUTTI_ERROR_INVALID_DATATYPE and _INVALID_OP for those without counterpart, operations of MPI_Op_create among them.
/// Counterparts: tutti::datatype_from, tutti::reduce_op_from.
TUTTI_API int tutti_datatype_from_mpi(MPI_Datatype mpi_datatype, tutti_datatype_t* datatype);
TUTTI_API int tutti_op_from_mpi(MPI_Op mpi_op, tutti_op_t* op);

/// A Fortran handle. The ABI of MPI 5, which knows no Fortran, calls MPI_Fint int.
#ifdef MPI_ABI_VERSION
typedef int tutti_fint_t;
#else
typedef MPI_Fint tutti_fint_t;
#endif

/// The same for Fortran handles.
TUTTI_API int tutti_datatype_from_mpi_f(tutti_fint_t mpi_datatype, tutti_datatype_t* datatype);
TUTTI_API int tutti_op_from_mpi_f(tutti_fint_t mpi_op, tutti_op_t* op);

/// Make a derived datatype: a layout of elements that are not contiguous. send, recv, groups, bcast, gather, scatter,
/// allgather, alltoall and neighbor_alltoallw take it, in all forms, with `count` repetitions of it, for buffers in
/// host memory; other calls refuse it. A buffer stands for the sequence of its elements: the other side may have
/// another layout or none. Lengths in a status are in elements. Local. tutti_datatype_free frees a datatype; requests
/// and groups that use it live on.
///
/// vector: `count` blocks of `block_length` elements, `stride` elements apart.
/// Counterpart: tutti::Layout::vector, MPI_Type_vector.
TUTTI_API int tutti_datatype_vector(size_t count, size_t block_length, ptrdiff_t stride, tutti_datatype_t element,
                                    tutti_datatype_t* datatype);
/// subarray: a part of an array, with three numbers per dimension; indices start at 0, `order` is TUTTI_ORDER_...
/// Counterpart: tutti::Layout::subarray, MPI_Type_create_subarray.
TUTTI_API int tutti_datatype_subarray(size_t dimensions, const size_t* sizes, const size_t* subsizes,
                                      const size_t* starts, int order, tutti_datatype_t element,
                                      tutti_datatype_t* datatype);
/// strided: a grid with a stride, in elements, per dimension; the last dimension is the fastest.
/// Counterpart: tutti::Layout::strided.
TUTTI_API int tutti_datatype_strided(size_t dimensions, const size_t* extents, const ptrdiff_t* strides,
                                     tutti_datatype_t element, tutti_datatype_t* datatype);
/// resized: the same layout with another distance of repetitions, in elements. Counterpart: MPI_Type_create_resized.
TUTTI_API int tutti_datatype_resized(tutti_datatype_t datatype, ptrdiff_t extent, tutti_datatype_t* resized);
/// sides: for collectives whose buffers differ: sendbuf has the one, recvbuf the other datatype, both of one element
/// type. `count` is then in elements, and each buffer holds as many repetitions as its elements need.
TUTTI_API int tutti_datatype_sides(tutti_datatype_t send, tutti_datatype_t recv, tutti_datatype_t* datatype);
/// Frees a derived datatype and sets it to TUTTI_DATATYPE_NULL. Counterpart: MPI_Type_free.
TUTTI_API int tutti_datatype_free(tutti_datatype_t* datatype);

/// Makes the operation that sums scalar * x; each rank has its own scalar. Local. Counterpart:
/// ncclRedOpCreatePreMulSum.
TUTTI_API int tutti_op_premul_sum(double scalar, tutti_op_t* op);

/// Makes an operation of a user's function. All ranks pass functions that do the same. commutative = 0 combines in rank
/// order, as in MPI. The function and its context must outlive the calls that use the operation. Local. Counterpart:
/// MPI_Op_create.
TUTTI_API int tutti_op_user(tutti_user_function_t function, void* context, int commutative, tutti_op_t* op);

/// Frees an operation made by tutti_op_premul_sum or tutti_op_user; outstanding calls keep it. Local. Counterpart:
/// MPI_Op_free.
TUTTI_API int tutti_op_free(tutti_op_t* op);

/// Computes output[i] = inputs[0][i] op inputs[1][i] op ..., associated from the left, for `parts` >= 1 vectors of
/// `count` elements in host memory, with the arithmetic of the reductions. `output` may be one of the inputs, but must
/// not overlap one partly. TUTTI_AVG and premul_sum combine as sum. Local; any thread may call it. Errors:
/// TUTTI_ERROR_INVALID_OP for an operation that is not defined for the type. Counterparts: tutti::kernels::combine,
/// MPI_Reduce_local.
TUTTI_API int tutti_combine(const void* const* inputs, size_t parts, void* output, size_t count,
                            tutti_datatype_t datatype, tutti_op_t op);

/// Make a communicator: duplicate works on a duplicate of the caller's handle, adopt takes the handle over and frees it
/// with the communicator, borrow refers to the handle. create takes the ownership (TUTTI_COMM_DUPLICATE, ...) and
/// options as arguments. Collective over the MPI communicator, blocking. Errors: TUTTI_ERROR_FINALIZED if MPI is not
/// running, _INVALID_COMMUNICATOR, _MISMATCH.
TUTTI_API int tutti_comm_duplicate(MPI_Comm mpi_comm, tutti_comm_t* comm);
TUTTI_API int tutti_comm_adopt(MPI_Comm mpi_comm, tutti_comm_t* comm);
TUTTI_API int tutti_comm_borrow(MPI_Comm mpi_comm, tutti_comm_t* comm);
TUTTI_API int tutti_comm_create(MPI_Comm mpi_comm, int ownership, const tutti_comm_options_t* options,
                                tutti_comm_t* comm);

/// The same for a Fortran handle.
TUTTI_API int tutti_comm_duplicate_f(tutti_fint_t mpi_comm, tutti_comm_t* comm);
TUTTI_API int tutti_comm_adopt_f(tutti_fint_t mpi_comm, tutti_comm_t* comm);
TUTTI_API int tutti_comm_borrow_f(tutti_fint_t mpi_comm, tutti_comm_t* comm);
TUTTI_API int tutti_comm_create_f(tutti_fint_t mpi_comm, int ownership, const tutti_comm_options_t* options,
                                  tutti_comm_t* comm);

/// Makes one communicator for each colour, its ranks ordered by key, then by rank. Gives TUTTI_COMM_NULL to ranks that
/// pass MPI_UNDEFINED as color. Collective over `comm`, blocking. Counterpart: MPI_Comm_split.
TUTTI_API int tutti_comm_split(tutti_comm_t comm, int color, int key, tutti_comm_t* part);

/// Makes one communicator for the ranks of each node. Collective over `comm`, blocking. Counterpart:
/// MPI_Comm_split_type.
TUTTI_API int tutti_comm_split_by_node(tutti_comm_t comm, tutti_comm_t* part);

/// Makes a communicator of the ranks that live on, in their order, with the same options and an MPI handle of its own,
/// after calls have failed with TUTTI_ERROR_PEER_DIED. The ranks may differ in what they know of the dead; they agree
/// here, also if one more ends meanwhile. `comm` is of no use afterwards, and is still to be freed. Collective over the
/// ranks that live on, blocking. Errors: TUTTI_ERROR_NOT_SUPPORTED where this rank cannot see the end of all others
/// (on one node: more than 256 ranks, no /dev/shm; else: no TUTTI_HEARTBEAT), TUTTI_ERROR_TIMEOUT.
/// Counterpart: MPI_Comm_shrink (MPI 5), ncclCommShrink.
TUTTI_API int tutti_comm_shrink(tutti_comm_t comm, tutti_comm_t* survivors);

/// Give this rank and the number of ranks. Local.
TUTTI_API int tutti_comm_rank(tutti_comm_t comm, int* rank);
TUTTI_API int tutti_comm_size(tutti_comm_t comm, int* size);

/// Give the adopted or borrowed handle, or a duplicate's or part's own, for the caller's MPI calls. Do not free it.
/// Local; if a process has more than 64 duplicates and parts, the first call on one of the others is collective.
TUTTI_API int tutti_comm_mpi_handle(tutti_comm_t comm, MPI_Comm* handle);
TUTTI_API int tutti_comm_mpi_handle_f(tutti_comm_t comm, tutti_fint_t* handle);

/// Gives the neighbours of this rank, in the order of the blocks of its neighborhood collectives: those of the MPI
/// communicator that `comm` was made of, when it was made. TUTTI_PROC_NULL is a neighbour that does not exist, at the
/// border of a grid. Writes as many as the arrays hold, and how many there are; an array may be NULL if its capacity is
/// 0. Local. Errors: TUTTI_ERROR_INVALID_ARGUMENT for a communicator without a topology. Counterparts:
/// tutti::neighborhood, MPI_Dist_graph_neighbors.
TUTTI_API int tutti_comm_neighbors(tutti_comm_t comm, size_t source_capacity, int* sources, size_t* source_count,
                                   size_t destination_capacity, int* destinations, size_t* destination_count);

/// Prepares the communicator for buffers in device memory: all ranks agree on their facilities and set NCCL up. The
/// process's current device (cudaSetDevice) becomes this communicator's device for good. Optional: the first blocking
/// call on device memory and the _init calls prepare by themselves, and nonblocking calls go through host memory until
/// then. Further calls return at once. Collective over `comm`, blocking. Errors, the same on all ranks:
/// TUTTI_ERROR_NOT_BUILT (a library without CUDA), _MISMATCH (a rank without a device). Counterparts:
/// Communicator::prepare_device, ncclCommInitRankConfig.
TUTTI_API int tutti_comm_prepare_device(tutti_comm_t comm);

/// Lists the facilities that calls on device memory use here and the reason why others are not used, one fact per line.
/// Needs *length + 1 bytes; writes the part that fits into `capacity`, with a terminating zero. text may be NULL if
/// capacity is 0. Local.
TUTTI_API int tutti_comm_device_report(tutti_comm_t comm, char* text, size_t capacity, size_t* length);

/// Lists the names that a call of `operation` ("allreduce", "alltoallv") may ask for by `algorithm` of its options, one
/// per line; the library's own choice comes first. `count` is the call's; for allgatherv and reduce_scatter pass the
/// sum of the counts. Only reductions read `op`; TUTTI_OP_NULL stands for TUTTI_SUM. `options` gives the memory kind
/// and the accumulation. Text and length as in tutti_comm_device_report. Local; the same on all ranks. Errors:
/// TUTTI_ERROR_INVALID_ARGUMENT (no such operation or form). Counterpart: tutti::algorithms.
TUTTI_API int tutti_comm_algorithms(tutti_comm_t comm, const char* operation, int form, size_t count,
                                    tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                                    char* text, size_t capacity, size_t* length);

/// Ends all outstanding and later calls of this rank on this communicator with TUTTI_ERROR_ABORTED. Local; may be
/// called from any thread. `reason` may be NULL. Counterpart: ncclCommAbort.
TUTTI_API int tutti_comm_abort(tutti_comm_t comm, const char* reason);

/// Frees a communicator and sets the handle to NULL; accepts a handle that is NULL. Collective. Allowed after
/// MPI_Finalize.
TUTTI_API int tutti_comm_free(tutti_comm_t* comm);

/// Allocates `bytes` zeroed bytes for this rank. 0 is allowed, and ranks may ask for different sizes. `memory_kind` is
/// equal on all ranks. TUTTI_MEMORY_HOST: all ranks of a node map the parts of all of them, so that large collectives
/// among these ranks read and write each other's buffers directly; ordinary memory if that is impossible.
/// TUTTI_MEMORY_DEVICE: memory on the communicator's device, which NCCL can use without extra copies.
/// TUTTI_MEMORY_MANAGED and TUTTI_MEMORY_PINNED: CUDA's managed and pinned memory. *data is never NULL on success.
/// Collective over `comm`, blocking. Errors, the same on all ranks: TUTTI_ERROR_MISMATCH, _NOT_BUILT (a kind of CUDA in
/// a library without CUDA), _CUDA, _INVALID_ARGUMENT, _OUT_OF_MEMORY. Counterparts: tutti::allocate, MPI_Alloc_mem,
/// ncclMemAlloc.
TUTTI_API int tutti_allocate(tutti_comm_t comm, size_t bytes, int memory_kind, void** data);

/// Frees this rank's part, given the address from tutti_allocate; accepts NULL. No call and no work on a stream that
/// uses the memory may be outstanding. Local. Allowed after tutti_comm_free and MPI_Finalize. Counterparts:
/// MPI_Free_mem, ncclMemFree.
TUTTI_API int tutti_deallocate(void* data);

/// The collectives, each in three forms. Collective over `comm`. Every rank passes the same datatype, op, root, options
/// and, unless counts are arrays, the same count.
///   tutti_<word>        blocking
///   tutti_i<word>       nonblocking: the buffers must stay valid and untouched until the request is done; the arrays
///   of
///                       counts and displacements may be changed at once. Calls match in the order in which they are
///                       started.
///   tutti_<word>_init   persistent: each tutti_start runs it again; tutti_request_free frees it.

/// Returns on a rank once all ranks have called it. Counterpart: MPI_Barrier.
TUTTI_API int tutti_barrier(tutti_comm_t comm, const tutti_options_t* options);
TUTTI_API int tutti_ibarrier(tutti_comm_t comm, const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_barrier_init(tutti_comm_t comm, const tutti_options_t* options, tutti_request_t* request);

/// Copies `count` elements from the root to all ranks. Counterpart: MPI_Bcast.
TUTTI_API int tutti_bcast(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int root,
                          const tutti_options_t* options);
TUTTI_API int tutti_ibcast(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int root,
                           const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_bcast_init(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int root,
                               const tutti_options_t* options, tutti_request_t* request);

/// Combines vectors of `count` elements and leaves the result at the root, which may pass TUTTI_IN_PLACE as sendbuf.
/// Other ranks ignore recvbuf. Counterpart: MPI_Reduce.
TUTTI_API int tutti_reduce(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                           tutti_datatype_t datatype, tutti_op_t op, int root, const tutti_options_t* options);
TUTTI_API int tutti_ireduce(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                            tutti_datatype_t datatype, tutti_op_t op, int root, const tutti_options_t* options,
                            tutti_request_t* request);
TUTTI_API int tutti_reduce_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                tutti_datatype_t datatype, tutti_op_t op, int root, const tutti_options_t* options,
                                tutti_request_t* request);

/// Combines vectors of `count` elements and gives all ranks the result. With TUTTI_IN_PLACE as sendbuf, the
/// contribution is read from recvbuf. Counterpart: MPI_Allreduce.
TUTTI_API int tutti_allreduce(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                              tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options);
TUTTI_API int tutti_iallreduce(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                               tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                               tutti_request_t* request);
TUTTI_API int tutti_allreduce_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                   tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                                   tutti_request_t* request);

/// Combines vectors and gives rank r recv_counts[r] elements of the result. With TUTTI_IN_PLACE as sendbuf, the whole
/// vector is read from recvbuf.
/// Counterpart: MPI_Reduce_scatter.
TUTTI_API int tutti_reduce_scatter(tutti_comm_t comm, const void* sendbuf, void* recvbuf, const size_t* recv_counts,
                                   tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options);
TUTTI_API int tutti_ireduce_scatter(tutti_comm_t comm, const void* sendbuf, void* recvbuf, const size_t* recv_counts,
                                    tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                                    tutti_request_t* request);
TUTTI_API int tutti_reduce_scatter_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf,
                                        const size_t* recv_counts, tutti_datatype_t datatype, tutti_op_t op,
                                        const tutti_options_t* options, tutti_request_t* request);

/// Combines vectors of `count` elements per rank and gives rank r block r of the result. With TUTTI_IN_PLACE as
/// sendbuf, the whole vector is read from recvbuf. Counterpart: MPI_Reduce_scatter_block.
TUTTI_API int tutti_reduce_scatter_block(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                         tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options);
TUTTI_API int tutti_ireduce_scatter_block(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                          tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                                          tutti_request_t* request);
TUTTI_API int tutti_reduce_scatter_block_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                              tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                                              tutti_request_t* request);

/// Gathers a block of `count` elements from every rank at the root, in rank order. With TUTTI_IN_PLACE as sendbuf at
/// the root, the root's block is already in its place. Counterpart: MPI_Gather.
TUTTI_API int tutti_gather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                           tutti_datatype_t datatype, int root, const tutti_options_t* options);
TUTTI_API int tutti_igather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                            tutti_datatype_t datatype, int root, const tutti_options_t* options,
                            tutti_request_t* request);
TUTTI_API int tutti_gather_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                tutti_datatype_t datatype, int root, const tutti_options_t* options,
                                tutti_request_t* request);

/// Gathers blocks of different sizes from all ranks and places them in the root's recvbuf. Other ranks ignore recvbuf
/// and the arrays. The root may pass TUTTI_IN_PLACE as sendbuf. Counterpart: MPI_Gatherv.
TUTTI_API int tutti_gatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                            const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype, int root,
                            const tutti_options_t* options);
TUTTI_API int tutti_igatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                             const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype, int root,
                             const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_gatherv_init(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                                 const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                                 int root, const tutti_options_t* options, tutti_request_t* request);

/// Gives rank r block r, of `count` elements, of the root's buffer. With TUTTI_IN_PLACE as recvbuf at the root, the
/// root's block stays in its place. Counterpart: MPI_Scatter.
TUTTI_API int tutti_scatter(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                            tutti_datatype_t datatype, int root, const tutti_options_t* options);
TUTTI_API int tutti_iscatter(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                             tutti_datatype_t datatype, int root, const tutti_options_t* options,
                             tutti_request_t* request);
TUTTI_API int tutti_scatter_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                 tutti_datatype_t datatype, int root, const tutti_options_t* options,
                                 tutti_request_t* request);

/// Gives rank r send_counts[r] elements, from element send_displs[r] of the root's buffer. Other ranks ignore sendbuf
/// and the arrays. The root may pass TUTTI_IN_PLACE as recvbuf. Counterpart: MPI_Scatterv.
TUTTI_API int tutti_scatterv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                             const size_t* send_displs, void* recvbuf, size_t recv_count, tutti_datatype_t datatype,
                             int root, const tutti_options_t* options);
TUTTI_API int tutti_iscatterv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                              const size_t* send_displs, void* recvbuf, size_t recv_count, tutti_datatype_t datatype,
                              int root, const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_scatterv_init(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                                  const size_t* send_displs, void* recvbuf, size_t recv_count,
                                  tutti_datatype_t datatype, int root, const tutti_options_t* options,
                                  tutti_request_t* request);

/// Gathers a block of `count` elements from every rank and gives all ranks the result. With TUTTI_IN_PLACE as sendbuf,
/// this rank's block is already in its place. Counterpart: MPI_Allgather.
TUTTI_API int tutti_allgather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                              tutti_datatype_t datatype, const tutti_options_t* options);
TUTTI_API int tutti_iallgather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                               tutti_datatype_t datatype, const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_allgather_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                   tutti_datatype_t datatype, const tutti_options_t* options, tutti_request_t* request);

/// Gathers blocks of different sizes and gives all ranks the result; recv_counts is equal on all ranks. With
/// TUTTI_IN_PLACE as sendbuf, this rank's block is already in its place and send_count is ignored. Counterpart:
/// MPI_Allgatherv.
TUTTI_API int tutti_allgatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                               const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                               const tutti_options_t* options);
TUTTI_API int tutti_iallgatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                                const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                                const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_allgatherv_init(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                                    const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                                    const tutti_options_t* options, tutti_request_t* request);

/// Sends block r, of `count` elements, of every rank's buffer to rank r. With TUTTI_IN_PLACE as sendbuf, the blocks are
/// read from recvbuf and replaced. Counterpart: MPI_Alltoall.
TUTTI_API int tutti_alltoall(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                             tutti_datatype_t datatype, const tutti_options_t* options);
TUTTI_API int tutti_ialltoall(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                              tutti_datatype_t datatype, const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_alltoall_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                  tutti_datatype_t datatype, const tutti_options_t* options, tutti_request_t* request);

/// Sends a block of its own size from every rank to every rank; send_counts[r] of rank s equals recv_counts[s] of rank
/// r. With TUTTI_IN_PLACE as sendbuf, counts and displacements are those of recvbuf. Counterpart: MPI_Alltoallv.
TUTTI_API int tutti_alltoallv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                              const size_t* send_displs, void* recvbuf, const size_t* recv_counts,
                              const size_t* recv_displs, tutti_datatype_t datatype, const tutti_options_t* options);
TUTTI_API int tutti_ialltoallv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                               const size_t* send_displs, void* recvbuf, const size_t* recv_counts,
                               const size_t* recv_displs, tutti_datatype_t datatype, const tutti_options_t* options,
                               tutti_request_t* request);
TUTTI_API int tutti_alltoallv_init(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                                   const size_t* send_displs, void* recvbuf, const size_t* recv_counts,
                                   const size_t* recv_displs, tutti_datatype_t datatype, const tutti_options_t* options,
                                   tutti_request_t* request);

/// The neighborhood collectives: every rank sends to its destinations and receives from its sources, those of
/// tutti_comm_neighbors. Collective over `comm`, which has a topology. Host memory. Blocks of neighbours that do not
/// exist are neither sent nor written. Where a rank is a neighbour several times, MPI 4.1, section 8.6, says which
/// block meets which; tutti/collectives/neighborhood.hpp explains it. Errors beside those of all collectives:
/// TUTTI_ERROR_INVALID_ARGUMENT for a communicator without a topology, _NOT_SUPPORTED for device memory.
///
/// Sends `count` elements to every destination; recvbuf has a block of as many for each source. Counterpart:
/// MPI_Neighbor_allgather.
TUTTI_API int tutti_neighbor_allgather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                       tutti_datatype_t datatype, const tutti_options_t* options);
TUTTI_API int tutti_ineighbor_allgather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                        tutti_datatype_t datatype, const tutti_options_t* options,
                                        tutti_request_t* request);
TUTTI_API int tutti_neighbor_allgather_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                            tutti_datatype_t datatype, const tutti_options_t* options,
                                            tutti_request_t* request);

/// The same with blocks of several sizes, one number for each source. Counterpart: MPI_Neighbor_allgatherv.
TUTTI_API int tutti_neighbor_allgatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                                        const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                                        const tutti_options_t* options);
TUTTI_API int tutti_ineighbor_allgatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                                         const size_t* recv_counts, const size_t* recv_displs,
                                         tutti_datatype_t datatype, const tutti_options_t* options,
                                         tutti_request_t* request);
TUTTI_API int tutti_neighbor_allgatherv_init(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                                             const size_t* recv_counts, const size_t* recv_displs,
                                             tutti_datatype_t datatype, const tutti_options_t* options,
                                             tutti_request_t* request);

/// Sends another block of `count` elements to every destination. Counterpart: MPI_Neighbor_alltoall.
TUTTI_API int tutti_neighbor_alltoall(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                      tutti_datatype_t datatype, const tutti_options_t* options);
TUTTI_API int tutti_ineighbor_alltoall(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                       tutti_datatype_t datatype, const tutti_options_t* options,
                                       tutti_request_t* request);
TUTTI_API int tutti_neighbor_alltoall_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                           tutti_datatype_t datatype, const tutti_options_t* options,
                                           tutti_request_t* request);

/// The same with blocks of several sizes, one number for each destination and for each source. Counterpart:
/// MPI_Neighbor_alltoallv.
TUTTI_API int tutti_neighbor_alltoallv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                                       const size_t* send_displs, void* recvbuf, const size_t* recv_counts,
                                       const size_t* recv_displs, tutti_datatype_t datatype,
                                       const tutti_options_t* options);
TUTTI_API int tutti_ineighbor_alltoallv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                                        const size_t* send_displs, void* recvbuf, const size_t* recv_counts,
                                        const size_t* recv_displs, tutti_datatype_t datatype,
                                        const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_neighbor_alltoallv_init(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                                            const size_t* send_displs, void* recvbuf, const size_t* recv_counts,
                                            const size_t* recv_displs, tutti_datatype_t datatype,
                                            const tutti_options_t* options, tutti_request_t* request);

/// The same with a datatype for each block, derived ones too, and displacements in bytes, which may be negative: the
/// faces of a grid are subarrays of one array, and nothing is packed by hand. Counterpart: MPI_Neighbor_alltoallw.
TUTTI_API int tutti_neighbor_alltoallw(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                                       const ptrdiff_t* send_displs, const tutti_datatype_t* send_datatypes,
                                       void* recvbuf, const size_t* recv_counts, const ptrdiff_t* recv_displs,
                                       const tutti_datatype_t* recv_datatypes, const tutti_options_t* options);
TUTTI_API int tutti_ineighbor_alltoallw(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                                        const ptrdiff_t* send_displs, const tutti_datatype_t* send_datatypes,
                                        void* recvbuf, const size_t* recv_counts, const ptrdiff_t* recv_displs,
                                        const tutti_datatype_t* recv_datatypes, const tutti_options_t* options,
                                        tutti_request_t* request);
TUTTI_API int tutti_neighbor_alltoallw_init(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts,
                                            const ptrdiff_t* send_displs, const tutti_datatype_t* send_datatypes,
                                            void* recvbuf, const size_t* recv_counts, const ptrdiff_t* recv_displs,
                                            const tutti_datatype_t* recv_datatypes, const tutti_options_t* options,
                                            tutti_request_t* request);

/// Gives rank r the combination of ranks 0 to r. sendbuf may be TUTTI_IN_PLACE. Counterpart: MPI_Scan.
TUTTI_API int tutti_scan(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                         tutti_op_t op, const tutti_options_t* options);
TUTTI_API int tutti_iscan(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                          tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                          tutti_request_t* request);
TUTTI_API int tutti_scan_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                              tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                              tutti_request_t* request);

/// Gives rank r > 0 the combination of ranks 0 to r - 1; recvbuf of rank 0 is unchanged. sendbuf may be TUTTI_IN_PLACE.
/// Counterpart: MPI_Exscan.
TUTTI_API int tutti_exscan(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                           tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options);
TUTTI_API int tutti_iexscan(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                            tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                            tutti_request_t* request);
TUTTI_API int tutti_exscan_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* options,
                                tutti_request_t* request);

/// Sends a buffer to rank `dest`. Not collective. Blocking: returns when the buffer may be used again. Tags are 0 to
/// 32767.
/// Counterpart: MPI_Send.
TUTTI_API int tutti_send(tutti_comm_t comm, const void* buffer, size_t count, tutti_datatype_t datatype, int dest,
                         int tag, const tutti_options_t* options);

/// Receives a message of at most `count` elements from rank `source`. Blocking. Errors: TUTTI_ERROR_TRUNCATED for a
/// longer message.
/// Counterpart: MPI_Recv.
TUTTI_API int tutti_recv(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int source, int tag,
                         const tutti_options_t* options, tutti_status_t* status);

/// Sends and receives at once, so that no order of calls can deadlock. Blocking. Counterpart: MPI_Sendrecv.
TUTTI_API int tutti_sendrecv(tutti_comm_t comm, const void* sendbuf, size_t send_count, tutti_datatype_t send_datatype,
                             int dest, int send_tag, void* recvbuf, size_t recv_count, tutti_datatype_t recv_datatype,
                             int source, int recv_tag, const tutti_options_t* options, tutti_status_t* status);

/// Nonblocking forms: the buffer must stay valid and untouched until the request is done. Counterpart: MPI_Isend,
/// MPI_Irecv.
TUTTI_API int tutti_isend(tutti_comm_t comm, const void* buffer, size_t count, tutti_datatype_t datatype, int dest,
                          int tag, const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_irecv(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int source, int tag,
                          const tutti_options_t* options, tutti_request_t* request);

/// Persistent forms: bind the buffer; each tutti_start posts the transfer again, until tutti_request_free. Local: the
/// other side need not be persistent. Counterpart: MPI_Send_init, MPI_Recv_init.
TUTTI_API int tutti_send_init(tutti_comm_t comm, const void* buffer, size_t count, tutti_datatype_t datatype, int dest,
                              int tag, const tutti_options_t* options, tutti_request_t* request);
TUTTI_API int tutti_recv_init(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int source,
                              int tag, const tutti_options_t* options, tutti_request_t* request);

/// Waits for a message without receiving it, and gives its source, tag and length in elements of `datatype`. Blocking.
/// Counterpart: MPI_Probe.
TUTTI_API int tutti_probe(tutti_comm_t comm, tutti_datatype_t datatype, int source, int tag,
                          const tutti_options_t* options, tutti_status_t* status);

/// Sets *found to 1 and gives the status, as tutti_probe does, if a message is here; else sets *found to 0. Never
/// blocks. Counterpart: MPI_Iprobe.
TUTTI_API int tutti_iprobe(tutti_comm_t comm, tutti_datatype_t datatype, int source, int tag, int* found,
                           tutti_status_t* status);

/// Collect sends and receives and post them together, so that no order among them can deadlock. create, send and recv
/// are local; start posts all transfers and returns one request, run posts all and waits, init binds all to one
/// persistent request, each tutti_start of which posts them again; all three empty the group.
/// Counterpart: ncclGroupStart and ncclGroupEnd.
TUTTI_API int tutti_group_create(tutti_comm_t comm, const tutti_options_t* options, tutti_group_t* group);
TUTTI_API int tutti_group_send(tutti_group_t group, const void* buffer, size_t count, tutti_datatype_t datatype,
                               int dest, int tag);
TUTTI_API int tutti_group_recv(tutti_group_t group, void* buffer, size_t count, tutti_datatype_t datatype, int source,
                               int tag);
TUTTI_API int tutti_group_start(tutti_group_t group, tutti_request_t* request);
TUTTI_API int tutti_group_run(tutti_group_t group);
TUTTI_API int tutti_group_init(tutti_group_t group, tutti_request_t* request);
TUTTI_API int tutti_group_free(tutti_group_t* group);

/// Sets *done to 1 once the operation is complete, and then frees a nonpersistent request and sets it to
/// TUTTI_REQUEST_NULL. Sets *done to 1 for TUTTI_REQUEST_NULL. Returns the error of a failed operation. Never blocks.
/// Counterpart: MPI_Test.
TUTTI_API int tutti_test(tutti_request_t* request, int* done, tutti_status_t* status);

/// Blocks until the operation is complete; otherwise as tutti_test. Counterpart: MPI_Wait.
TUTTI_API int tutti_wait(tutti_request_t* request, tutti_status_t* status);

/// Orders later work on the stream after the operation. Returns once the work is launched if the device does it (NCCL),
/// which waits for the other ranks' starts if NCCL has to connect, and when the communication is done if the host does
/// it. Frees a nonpersistent request. Without a stream, or for an operation on host memory, the same as tutti_wait.
/// Counterparts: Request::wait(stream), cudaStreamWaitEvent.
TUTTI_API int tutti_wait_on_stream(tutti_request_t* request, int stream_kind, void* stream);

/// Sets *done to 1 once later work on the stream is ordered after the operation, as after tutti_wait_on_stream, and
/// then frees a nonpersistent request. Never blocks. Without a stream, the same as tutti_test. Counterpart:
/// Request::test(stream).
TUTTI_API int tutti_test_on_stream(tutti_request_t* request, int* done, int stream_kind, void* stream);

/// Waits for all requests; returns the first error after all are complete. `statuses` is NULL or has `count` elements.
/// Counterpart: MPI_Waitall.
TUTTI_API int tutti_waitall(size_t count, tutti_request_t* requests, tutti_status_t* statuses);

/// Waits for one request and gives its index, or TUTTI_UNDEFINED if no request is active. Counterpart: MPI_Waitany.
TUTTI_API int tutti_waitany(size_t count, tutti_request_t* requests, int* index, tutti_status_t* status);

/// Waits until at least one request is complete, and completes all that are: gives their number, or TUTTI_UNDEFINED if
/// no request is active, and their indices and statuses in the first places of two arrays of `count` elements;
/// `statuses` may be NULL. Returns the first error; the index of a failed request is given too. Counterpart:
/// MPI_Waitsome.
TUTTI_API int tutti_waitsome(size_t count, tutti_request_t* requests, int* completed, int* indices,
                             tutti_status_t* statuses);

/// Sets *done to 1 once all requests are complete, and then completes them as tutti_waitall does; until then sets *done
/// to 0 and completes none. Never blocks. Counterpart: MPI_Testall.
TUTTI_API int tutti_testall(size_t count, tutti_request_t* requests, int* done, tutti_status_t* statuses);

/// Sets *done to 1 and gives the index if one of the requests is complete; also, with index TUTTI_UNDEFINED, if no
/// request is active. Never blocks. Counterpart: MPI_Testany.
TUTTI_API int tutti_testany(size_t count, tutti_request_t* requests, int* index, int* done, tutti_status_t* status);

/// Completes all requests that are complete now, otherwise as tutti_waitsome. Never blocks. Counterpart: MPI_Testsome.
TUTTI_API int tutti_testsome(size_t count, tutti_request_t* requests, int* completed, int* indices,
                             tutti_status_t* statuses);

/// Start persistent operations. Local. Errors: TUTTI_ERROR_INVALID_REQUEST for an active or nonpersistent request.
/// Counterpart: MPI_Start, MPI_Startall.
TUTTI_API int tutti_start(tutti_request_t* request);
TUTTI_API int tutti_startall(size_t count, tutti_request_t* requests);

/// Frees a request and sets it to TUTTI_REQUEST_NULL. An active operation is detached: later calls drive it to its end,
/// and its buffers must stay valid until then. Local. Counterpart: MPI_Request_free.
TUTTI_API int tutti_request_free(tutti_request_t* request);

/// Gives the error of a failed operation; TUTTI_SUCCESS while it runs and after it has succeeded. Local.
TUTTI_API int tutti_request_error(tutti_request_t request, int* code);

#ifdef __cplusplus
}
#endif

#include "tutti_device.h" /* IWYU pragma: export */
#include "tutti_exact.h"  /* IWYU pragma: export */
#if TUTTI_HAS_TRAINING
#include "tutti_embedding.h" /* IWYU pragma: export */
#include "tutti_training.h"  /* IWYU pragma: export */
#endif

#ifdef TUTTI_CALL_SITES
#include "tutti_call_sites.h" /* IWYU pragma: export */
#endif

#endif /* TUTTI_TUTTI_H */
