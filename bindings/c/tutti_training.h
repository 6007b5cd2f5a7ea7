/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TUTTI_TRAINING_H
#define TUTTI_TUTTI_TRAINING_H

/// Distributed training: the part of the C interface that corresponds to tutti/gradient_reducer.hpp,
/// tutti/sharded_optimizer.hpp, tutti/kernels/optimizers.hpp and tutti/parameter_server.hpp, whose documentation holds
/// here too. tutti.h includes this header. Parameters, buckets and rows start at 0. Free objects before the
/// communicator or reducer from which they were made. One thread at a time per handle.
#include "tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A gradient reducer, a sharded optimizer and a parameter server. Counterpart: tutti::GradientReducer,
/// tutti::ShardedOptimizer, tutti::ParameterServer.
typedef struct tutti_reducer_s* tutti_reducer_t;
typedef struct tutti_optimizer_s* tutti_optimizer_t;
typedef struct tutti_server_s* tutti_server_t;
#define TUTTI_REDUCER_NULL ((tutti_reducer_t)0)
#define TUTTI_OPTIMIZER_NULL ((tutti_optimizer_t)0)
#define TUTTI_SERVER_NULL ((tutti_server_t)0)

/// The reduction of buckets. Counterpart: tutti::allreduce_hook, bf16_hook, fp16_hook, power_sgd_hook, sharding_hook,
/// tutti::CommunicationHook.
enum {
  TUTTI_HOOK_NONE = 0,
  TUTTI_HOOK_BF16 = 1,
  TUTTI_HOOK_FP16 = 2,
  TUTTI_HOOK_POWER_SGD = 3,
  TUTTI_HOOK_SHARDING = 4, /* for tutti_optimizer_create */
  TUTTI_HOOK_USER = 5      /* the option user_hook */
};

/// The optimizers of dense parameters. Counterpart: tutti::kernels::DenseOptimizer.
enum { TUTTI_DENSE_SGD = 0, TUTTI_DENSE_ADAGRAD = 1, TUTTI_DENSE_ADAM = 2 };

/// The optimizers of a parameter server. Counterpart: tutti::ServerOptimizer.
enum { TUTTI_SERVER_SGD = 0, TUTTI_SERVER_ROW_WISE_ADAGRAD = 1 };

/// As the option bucket_bytes, chooses the bucket size by measurement.
enum { TUTTI_BUCKET_BYTES_AUTO = 0 };

/// A bucket for a user's hook. Counterpart: tutti::GradientBucket.
typedef struct tutti_bucket {
  void* data; /* this rank's gradients; the result once the hook sets *done */
  size_t count;
  tutti_datatype_t datatype;
  tutti_op_t op; /* TUTTI_SUM or TUTTI_AVG */
} tutti_bucket_t;

/// A user's hook. The functions return TUTTI_SUCCESS or a TUTTI_ERROR_ code; tutti_error_set() adds a text. The reducer
/// calls prepare for each new set of buckets, start for buckets 0, 1, ... in this order in each step, and test until it
/// sets *done. bytes may be NULL, which means the size of the bucket. The struct is copied; `context` must outlive the
/// reducer.
/// Counterpart: tutti::CommunicationHook.
typedef struct tutti_hook {
  size_t size;     /* sizeof(tutti_hook_t) */
  int32_t version; /* TUTTI_HOOK_VERSION */
  void* context;
  int (*prepare)(void* context, size_t comm_count, const tutti_comm_t* comms, size_t bucket_count,
                 const tutti_bucket_t* buckets); /* bucket b travels over comms[b % comm_count]; all stay valid */
  int (*start)(void* context, size_t bucket);
  int (*test)(void* context, size_t bucket, int* done);
  size_t (*bytes)(void* context, size_t bucket);
} tutti_hook_t;
#define TUTTI_HOOK_VERSION 1
#define TUTTI_HOOK_INIT \
  { sizeof(tutti_hook_t), TUTTI_HOOK_VERSION, NULL, NULL, NULL, NULL, NULL }

/// The options of a reducer; equal on all ranks, except for progress_thread and the stream. Initialise with
/// TUTTI_REDUCER_OPTIONS_INIT. Counterpart: tutti::ReducerOptions and PowerSgdOptions.
typedef struct tutti_reducer_options {
  size_t size;     /* sizeof(tutti_reducer_options_t) */
  int32_t version; /* TUTTI_REDUCER_OPTIONS_VERSION */
  int32_t hook;    /* TUTTI_HOOK_ */
  size_t bucket_bytes;
  size_t first_bucket_bytes;
  tutti_op_t op; /* TUTTI_AVG or TUTTI_SUM */
  int32_t rebuild;
  int32_t find_unused;
  int32_t uneven;
  int32_t average_active;
  int32_t check;
  int32_t communicators;
  int32_t progress_thread;
  int32_t power_sgd_rank;
  int32_t power_sgd_start_step;
  int32_t power_sgd_error_feedback;
  int32_t power_sgd_warm_start;
  double power_sgd_min_compression_rate;
  uint64_t power_sgd_seed;
  const tutti_hook_t* user_hook;
  int32_t memory;       /* TUTTI_MEMORY_HOST or _DEVICE, for gradients and values */
  int32_t stream_kind;  /* TUTTI_STREAM_ */
  void* stream;         /* device memory: orders the caller's work on gradients, ready, wait and the update */
  int32_t first_number; /* the first parameter's number in messages and in tutti_reducer_map */
  size_t blocks; /* above 0: the same bits on any number of ranks up to this one; rank r of R marks each gradient ready
                    in a pass over each block [r * blocks / R, (r + 1) * blocks / R) of the batch; as C++'s member */
} tutti_reducer_options_t;
#define TUTTI_REDUCER_OPTIONS_VERSION 1
#define TUTTI_REDUCER_OPTIONS_INIT                                                                     \
  {                                                                                                    \
    sizeof(tutti_reducer_options_t), TUTTI_REDUCER_OPTIONS_VERSION, TUTTI_HOOK_NONE, (size_t)25 << 20, \
        (size_t)1 << 20, TUTTI_AVG, 1, 0, 0, 0, 0, 1, 0, 2, 10, 1, 1, 2.0, 0, NULL, TUTTI_MEMORY_HOST, \
        TUTTI_STREAM_NONE, NULL, 0, 0                                                                  \
  }

/// The statistics of a reducer. Counterpart: tutti::ReducerStatistics.
typedef struct tutti_reducer_figures {
  size_t steps;
  size_t buckets;
  size_t bucket_bytes;
  size_t bytes_per_step;
  double exposed_seconds;
  int32_t rebuilt;
  int32_t tuned;
} tutti_reducer_figures_t;

/// The settings of an optimizer. Initialise with TUTTI_DENSE_UPDATE_INIT. Counterpart: tutti::kernels::DenseUpdate.
typedef struct tutti_dense_update {
  size_t size;       /* sizeof(tutti_dense_update_t) */
  int32_t version;   /* TUTTI_DENSE_UPDATE_VERSION */
  int32_t optimizer; /* TUTTI_DENSE_ */
  double learning_rate;
  double momentum;
  double weight_decay;
  double beta1;
  double beta2;
  double epsilon;
  int32_t nesterov;
} tutti_dense_update_t;
#define TUTTI_DENSE_UPDATE_VERSION 1
#define TUTTI_DENSE_UPDATE_INIT \
  { sizeof(tutti_dense_update_t), TUTTI_DENSE_UPDATE_VERSION, TUTTI_DENSE_SGD, 0.01, 0.0, 0.0, 0.9, 0.999, 1e-8, 0 }

/// The options of a parameter server. Initialise with TUTTI_SERVER_OPTIONS_INIT. Counterpart:
/// tutti::ParameterServerOptions.
typedef struct tutti_server_options {
  size_t size;       /* sizeof(tutti_server_options_t) */
  int32_t version;   /* TUTTI_SERVER_OPTIONS_VERSION */
  int32_t optimizer; /* TUTTI_SERVER_ */
  float epsilon;
  int32_t direct; /* 1: loads and stores if all ranks share memory; 0: MPI one-sided calls */
} tutti_server_options_t;
#define TUTTI_SERVER_OPTIONS_VERSION 1
#define TUTTI_SERVER_OPTIONS_INIT \
  { sizeof(tutti_server_options_t), TUTTI_SERVER_OPTIONS_VERSION, TUTTI_SERVER_SGD, 1e-10f, 1 }

/// Make and free a reducer. NULL as options means the defaults. Local. tutti_reducer_free is allowed before prepare.
TUTTI_API int tutti_reducer_create(tutti_comm_t comm, const tutti_reducer_options_t* options, tutti_reducer_t* reducer);
TUTTI_API int tutti_reducer_free(tutti_reducer_t* reducer);

/// Registers a parameter of `dims` dimensions, the last of which is contiguous; with dims 0 it is a scalar, and shape
/// may be NULL. A value of NULL is not sent to the other ranks; a gradient of NULL lives in the bucket. Both must stay
/// valid as long as the reducer. Gives the parameter's number in *index; index may be NULL. Local. Call it before
/// prepare.
TUTTI_API int tutti_reducer_add(tutti_reducer_t reducer, const char* name, void* value, void* gradient,
                                const size_t* shape, size_t dims, tutti_datatype_t datatype, size_t* index);

/// Compares the registrations of all ranks, sends rank 0's values to all and makes the buckets. Collective, blocking.
/// Errors, on every rank: TUTTI_ERROR_MISMATCH.
TUTTI_API int tutti_reducer_prepare(tutti_reducer_t reducer);

/// tutti_reducer_gradient gives the address of a parameter's gradient and its number of elements. tutti_reducer_layout
/// counts how often the buckets were made: if the count has changed after a wait, gradients in buckets have moved.
/// Local.
TUTTI_API int tutti_reducer_gradient(tutti_reducer_t reducer, size_t index, void** data, size_t* count);
TUTTI_API int tutti_reducer_layout(tutti_reducer_t reducer, size_t* layout);

/// The calls of one step: ready for each parameter once its gradient is complete, in any order, then wait. ready and
/// progress are local, drive the buckets in flight and never block. wait is collective and blocking. A mistake on any
/// rank is an error of wait on every rank; an index that no parameter has is also an error of ready, at once.
TUTTI_API int tutti_reducer_ready(tutti_reducer_t reducer, size_t index);
TUTTI_API int tutti_reducer_progress(tutti_reducer_t reducer);
TUTTI_API int tutti_reducer_wait(tutti_reducer_t reducer);

/// Sets *used to 1 if any rank marked the parameter in the last step. Local.
TUTTI_API int tutti_reducer_used(tutti_reducer_t reducer, size_t index, int* used);

/// Switches synchronisation: after sync 0, ready and wait do nothing until sync 1, so that gradients accumulate. Equal
/// on all ranks. Local.
TUTTI_API int tutti_reducer_set_sync(tutti_reducer_t reducer, int sync);

/// Takes part in one step of the other ranks, on a rank that has no further steps of its own; needs the option uneven.
/// Sets *more to 0 when no rank has a step left. Collective, blocking.
TUTTI_API int tutti_reducer_join(tutti_reducer_t reducer, int* more);

/// Computes the 2-norm of all gradients and, if it exceeds max_norm, scales them to max_norm. Call it after wait.
/// `norm` may be NULL. Collective, blocking.
TUTTI_API int tutti_reducer_clip(tutti_reducer_t reducer, double max_norm, double* norm);

/// Writes the parameter-to-bucket map as a table. Needs *length + 1 bytes; writes the part that fits into `capacity`,
/// with a terminating zero. text may be NULL if capacity is 0. Local.
TUTTI_API int tutti_reducer_map(tutti_reducer_t reducer, char* text, size_t capacity, size_t* length);

/// Gives the statistics of a reducer. Local.
TUTTI_API int tutti_reducer_statistics(tutti_reducer_t reducer, tutti_reducer_figures_t* statistics);

/// Save and load this rank's state between steps, for a checkpoint. save is local and needs *bytes bytes; with data
/// NULL it only gives this number, and a smaller capacity is an error. load is collective; call it after prepare.
TUTTI_API int tutti_reducer_save(tutti_reducer_t reducer, void* data, size_t capacity, size_t* bytes);
TUTTI_API int tutti_reducer_load(tutti_reducer_t reducer, const void* data, size_t bytes);

/// Gives the number of state values per parameter: 0, 1 or 2. Local.
TUTTI_API int tutti_dense_state_values(const tutti_dense_update_t* update, size_t* values);

/// Updates `count` parameters of TUTTI_FLOAT32 or TUTTI_FLOAT64 by one step of an optimizer; `step` counts from 1.
/// state has tutti_dense_state_values() times `count` values, zero before the first step. Host memory. Local, blocking.
TUTTI_API int tutti_dense_step(const tutti_dense_update_t* update, uint64_t step, void* parameters,
                               const void* gradients, void* state, size_t count, tutti_datatype_t datatype);

/// An optimizer whose state is divided over the ranks, for a reducer with TUTTI_HOOK_SHARDING whose parameters have
/// values. create is local. step, called after wait, clips (unless max_norm is 0), updates and gathers all values; norm
/// may be NULL; collective, blocking. save gives the whole state on every rank, otherwise as tutti_reducer_save; save
/// and load are collective.
TUTTI_API int tutti_optimizer_create(tutti_reducer_t reducer, const tutti_dense_update_t* update,
                                     tutti_optimizer_t* optimizer);
TUTTI_API int tutti_optimizer_step(tutti_optimizer_t optimizer, double learning_rate, double max_norm, double* norm);
TUTTI_API int tutti_optimizer_state_bytes(tutti_optimizer_t optimizer, size_t* bytes);
TUTTI_API int tutti_optimizer_save(tutti_optimizer_t optimizer, void* data, size_t capacity, size_t* bytes);
TUTTI_API int tutti_optimizer_load(tutti_optimizer_t optimizer, const void* data, size_t bytes);
TUTTI_API int tutti_optimizer_free(tutti_optimizer_t* optimizer);

/// A table of rows x dim float32 values; each rank holds a block of rows. create, fence and free are collective. pull
/// and push are not collective: any rank reads or updates any rows at any time. A push has been applied when it
/// returns.
/// Counterpart: tutti::ParameterServer.
TUTTI_API int tutti_server_create(tutti_comm_t comm, int64_t rows, size_t dim, const tutti_server_options_t* options,
                                  tutti_server_t* server);
TUTTI_API int tutti_server_pull(tutti_server_t server, const int64_t* rows, size_t count, float* values);
TUTTI_API int tutti_server_push(tutti_server_t server, const int64_t* rows, size_t count, const float* gradients,
                                double learning_rate);
TUTTI_API int tutti_server_fence(tutti_server_t server);
TUTTI_API int tutti_server_progress(tutti_server_t server);

/// Gives this rank's `count` rows, which start at row `first`, to fill or save between two fences. Local.
TUTTI_API int tutti_server_local(tutti_server_t server, float** data, int64_t* first, size_t* count);

/// Gives the number of rows of the whole table and the number of values per row. Local.
TUTTI_API int tutti_server_shape(tutti_server_t server, int64_t* rows, size_t* dim);

/// The way to access rows: "direct" or "mpi"; "" for TUTTI_SERVER_NULL. Local. Valid as long as the server.
TUTTI_API const char* tutti_server_path(tutti_server_t server);
TUTTI_API int tutti_server_free(tutti_server_t* server);

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_TUTTI_TRAINING_H */
