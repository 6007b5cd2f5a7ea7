/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TUTTI_TRAINING_H
#define TUTTI_TUTTI_TRAINING_H

/// Distributed training: the part of the C interface that stands for tutti/gradient_reducer.hpp,
/// tutti/sharded_optimizer.hpp, tutti/kernels/optimizers.hpp and tutti/parameter_server.hpp, whose texts hold here too.
/// tutti.h includes it. Parameters, buckets and rows are numbered from 0. What is made from a communicator, or from a
/// reducer, ends before it. One thread at a time per handle.
#include "tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Counterpart: tutti::GradientReducer, tutti::ShardedOptimizer, tutti::ParameterServer.
typedef struct tutti_reducer_s* tutti_reducer_t;
typedef struct tutti_optimizer_s* tutti_optimizer_t;
typedef struct tutti_server_s* tutti_server_t;
#define TUTTI_REDUCER_NULL ((tutti_reducer_t)0)
#define TUTTI_OPTIMIZER_NULL ((tutti_optimizer_t)0)
#define TUTTI_SERVER_NULL ((tutti_server_t)0)

/// How buckets are reduced. Counterpart: tutti::allreduce_hook, bf16_hook, fp16_hook, power_sgd_hook, sharding_hook,
/// tutti::CommunicationHook.
enum {
  TUTTI_HOOK_NONE = 0,
  TUTTI_HOOK_BF16 = 1,
  TUTTI_HOOK_FP16 = 2,
  TUTTI_HOOK_POWER_SGD = 3,
  TUTTI_HOOK_SHARDING = 4, /* for tutti_optimizer_create */
  TUTTI_HOOK_USER = 5      /* the option user_hook */
};

/// Counterpart: tutti::kernels::DenseOptimizer.
enum { TUTTI_DENSE_SGD = 0, TUTTI_DENSE_ADAGRAD = 1, TUTTI_DENSE_ADAM = 2 };

/// Counterpart: tutti::ServerOptimizer.
enum { TUTTI_SERVER_SGD = 0, TUTTI_SERVER_ROW_WISE_ADAGRAD = 1 };

/// As the option bucket_bytes: found by measurement.
enum { TUTTI_BUCKET_BYTES_AUTO = 0 };

/// A bucket, as a user's hook sees it. Counterpart: tutti::GradientBucket.
typedef struct tutti_bucket {
  void* data; /* this rank's gradients; the result, when the hook says it is done */
  size_t count;
  tutti_datatype_t datatype;
  tutti_op_t op; /* TUTTI_SUM or TUTTI_AVG */
} tutti_bucket_t;

/// A user's hook. The functions return TUTTI_SUCCESS or a TUTTI_ERROR_ code, of which tutti_error_set() can say more;
/// prepare is called for each new set of buckets, start for buckets 0, 1, ... in this order in each step, test until it
/// sets *done. bytes may be NULL: as many as the bucket has. The struct is copied; `context` outlives the reducer.
/// Counterpart: tutti::CommunicationHook.
typedef struct tutti_hook {
  size_t size;     /* sizeof(tutti_hook_t) */
  int32_t version; /* TUTTI_HOOK_VERSION */
  void* context;
  int (*prepare)(void* context, size_t comm_count, const tutti_comm_t* comms, size_t bucket_count,
                 const tutti_bucket_t* buckets); /* bucket b goes over comms[b % comm_count]; all stay valid */
  int (*start)(void* context, size_t bucket);
  int (*test)(void* context, size_t bucket, int* done);
  size_t (*bytes)(void* context, size_t bucket);
} tutti_hook_t;
#define TUTTI_HOOK_VERSION 1
#define TUTTI_HOOK_INIT \
  { sizeof(tutti_hook_t), TUTTI_HOOK_VERSION, NULL, NULL, NULL, NULL, NULL }

/// Equal on all ranks, but for progress_thread and the stream. Counterpart: tutti::ReducerOptions and PowerSgdOptions.
/// Begin with TUTTI_REDUCER_OPTIONS_INIT.
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
  int32_t memory;      /* TUTTI_MEMORY_HOST or _DEVICE: of gradients and values */
  int32_t stream_kind; /* TUTTI_STREAM_ */
  void* stream; /* device memory: what the caller does with gradients, ready, wait and the update are ordered on it */
} tutti_reducer_options_t;
#define TUTTI_REDUCER_OPTIONS_VERSION 1
#define TUTTI_REDUCER_OPTIONS_INIT                                                                     \
  {                                                                                                    \
    sizeof(tutti_reducer_options_t), TUTTI_REDUCER_OPTIONS_VERSION, TUTTI_HOOK_NONE, (size_t)25 << 20, \
        (size_t)1 << 20, TUTTI_AVG, 1, 0, 0, 0, 0, 1, 0, 2, 10, 1, 1, 2.0, 0, NULL, TUTTI_MEMORY_HOST, \
        TUTTI_STREAM_NONE, NULL                                                                        \
  }

/// Counterpart: tutti::ReducerStatistics.
typedef struct tutti_reducer_figures {
  size_t steps;
  size_t buckets;
  size_t bucket_bytes;
  size_t bytes_per_step;
  double exposed_seconds;
  int32_t rebuilt;
  int32_t tuned;
} tutti_reducer_figures_t;

/// Counterpart: tutti::kernels::DenseUpdate. Begin with TUTTI_DENSE_UPDATE_INIT.
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

/// Counterpart: tutti::ParameterServerOptions. Begin with TUTTI_SERVER_OPTIONS_INIT.
typedef struct tutti_server_options {
  size_t size;       /* sizeof(tutti_server_options_t) */
  int32_t version;   /* TUTTI_SERVER_OPTIONS_VERSION */
  int32_t optimizer; /* TUTTI_SERVER_ */
  float epsilon;
  int32_t direct; /* load and store where all ranks share memory; with 0 MPI one-sided */
} tutti_server_options_t;
#define TUTTI_SERVER_OPTIONS_VERSION 1
#define TUTTI_SERVER_OPTIONS_INIT \
  { sizeof(tutti_server_options_t), TUTTI_SERVER_OPTIONS_VERSION, TUTTI_SERVER_SGD, 1e-10f, 1 }

/// A reducer of gradients; NULL as options: the defaults. Local. tutti_reducer_free: also before prepare.
TUTTI_API int tutti_reducer_create(tutti_comm_t comm, const tutti_reducer_options_t* options, tutti_reducer_t* reducer);
TUTTI_API int tutti_reducer_free(tutti_reducer_t* reducer);

/// Registers a parameter of `dims` dimensions, the last one contiguous (0: a scalar; shape may be NULL). value NULL: it
/// is not sent to all; gradient NULL: the gradient lives in the bucket. Both stay valid as long as the reducer. Its
/// number, *index, may be NULL. Local; before prepare.
TUTTI_API int tutti_reducer_add(tutti_reducer_t reducer, const char* name, void* value, void* gradient,
                                const size_t* shape, size_t dims, tutti_datatype_t datatype, size_t* index);

/// Compares what the ranks registered, sends rank 0's values to all and makes the buckets. Collective, blocking.
/// Errors, on every rank: TUTTI_ERROR_MISMATCH.
TUTTI_API int tutti_reducer_prepare(tutti_reducer_t reducer);

/// Where the gradient of a parameter is, and its elements; and how often the buckets were made: when that number has
/// changed after a wait, gradients that live in buckets have moved. Local.
TUTTI_API int tutti_reducer_gradient(tutti_reducer_t reducer, size_t index, void** data, size_t* count);
TUTTI_API int tutti_reducer_layout(tutti_reducer_t reducer, size_t* layout);

/// A step: ready for each parameter whose gradient is complete, in any order, then wait, which is collective. ready and
/// progress drive what is under way and never block. A mistake of any rank is an error of wait on every rank.
TUTTI_API int tutti_reducer_ready(tutti_reducer_t reducer, size_t index);
TUTTI_API int tutti_reducer_progress(tutti_reducer_t reducer);
TUTTI_API int tutti_reducer_wait(tutti_reducer_t reducer);

/// Whether any rank marked the parameter in the last step. Local.
TUTTI_API int tutti_reducer_used(tutti_reducer_t reducer, size_t index, int* used);

/// Accumulation: with 0, ready and wait do nothing until 1. Equal on all ranks. Local.
TUTTI_API int tutti_reducer_set_sync(tutti_reducer_t reducer, int sync);

/// For a rank without further steps, with the option uneven: takes part in one step of the others. *more is 0 when no
/// rank has a step left. Blocking.
TUTTI_API int tutti_reducer_join(tutti_reducer_t reducer, int* more);

/// The 2-norm of all gradients, scaled to max_norm where it is larger. After wait. Collective, blocking. `norm` may be
/// NULL.
TUTTI_API int tutti_reducer_clip(tutti_reducer_t reducer, double max_norm, double* norm);

/// The parameter-to-bucket map as a table. Local. Needs *length + 1 bytes; what fits into `capacity` is written, with
/// an end mark; text may be NULL with capacity 0.
TUTTI_API int tutti_reducer_map(tutti_reducer_t reducer, char* text, size_t capacity, size_t* length);

/// Local.
TUTTI_API int tutti_reducer_statistics(tutti_reducer_t reducer, tutti_reducer_figures_t* statistics);

/// This rank's state between steps, for a checkpoint. save is local; it needs *bytes; with data NULL it only tells
/// them, and fewer than that as capacity is an error. load is collective, after prepare.
TUTTI_API int tutti_reducer_save(tutti_reducer_t reducer, void* data, size_t capacity, size_t* bytes);
TUTTI_API int tutti_reducer_load(tutti_reducer_t reducer, const void* data, size_t bytes);

/// Values of state a parameter needs: 0, 1 or 2. Local.
TUTTI_API int tutti_dense_state_values(const tutti_dense_update_t* update, size_t* values);

/// One step of an optimizer, counted from 1, on `count` parameters of TUTTI_FLOAT32 or TUTTI_FLOAT64; state has so many
/// times `count` values, zero before the first step. Local, blocking.
TUTTI_API int tutti_dense_step(const tutti_dense_update_t* update, uint64_t step, void* parameters,
                               const void* gradients, void* state, size_t count, tutti_datatype_t datatype);

/// An optimizer whose state is divided over the ranks, for a reducer with TUTTI_HOOK_SHARDING whose parameters have
/// values. create is local. step, after wait: clips (max_norm 0: not), updates, gathers all values; norm may be NULL;
/// collective, blocking. save (the whole state, on every rank; as tutti_reducer_save) and load are collective.
TUTTI_API int tutti_optimizer_create(tutti_reducer_t reducer, const tutti_dense_update_t* update,
                                     tutti_optimizer_t* optimizer);
TUTTI_API int tutti_optimizer_step(tutti_optimizer_t optimizer, double learning_rate, double max_norm, double* norm);
TUTTI_API int tutti_optimizer_state_bytes(tutti_optimizer_t optimizer, size_t* bytes);
TUTTI_API int tutti_optimizer_save(tutti_optimizer_t optimizer, void* data, size_t capacity, size_t* bytes);
TUTTI_API int tutti_optimizer_load(tutti_optimizer_t optimizer, const void* data, size_t bytes);
TUTTI_API int tutti_optimizer_free(tutti_optimizer_t* optimizer);

/// A table of rows x dim float32 values, of which each rank holds a block of rows. create, fence and free are
/// collective. pull and push are not: they take any rows at any time; a push has been applied when it returns.
/// Counterpart: tutti::ParameterServer.
TUTTI_API int tutti_server_create(tutti_comm_t comm, int64_t rows, size_t dim, const tutti_server_options_t* options,
                                  tutti_server_t* server);
TUTTI_API int tutti_server_pull(tutti_server_t server, const int64_t* rows, size_t count, float* values);
TUTTI_API int tutti_server_push(tutti_server_t server, const int64_t* rows, size_t count, const float* gradients,
                                double learning_rate);
TUTTI_API int tutti_server_fence(tutti_server_t server);
TUTTI_API int tutti_server_progress(tutti_server_t server);

/// This rank's `count` rows from row `first`, for filling and saving between two fences. Local.
TUTTI_API int tutti_server_local(tutti_server_t server, float** data, int64_t* first, size_t* count);

/// All rows, and the values of one. Local.
TUTTI_API int tutti_server_shape(tutti_server_t server, int64_t* rows, size_t* dim);

/// "direct" or "mpi": how rows are reached; "" for TUTTI_SERVER_NULL. Local; valid as long as the server.
TUTTI_API const char* tutti_server_path(tutti_server_t server);
TUTTI_API int tutti_server_free(tutti_server_t* server);

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_TUTTI_TRAINING_H */
