/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TUTTI_EMBEDDING_H
#define TUTTI_TUTTI_EMBEDDING_H

/// Sharded embedding tables: the part of the C interface that corresponds to tutti/embedding_collection.hpp and
/// tutti/sharding_plan.hpp, whose documentation holds here too. tutti.h includes this header. Tables, rows, indices,
/// offsets and slots start at 0.
#include "tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Embedding tables divided over the ranks. Counterpart: tutti::EmbeddingCollection.
typedef struct tutti_embedding_s* tutti_embedding_t;
#define TUTTI_EMBEDDING_NULL ((tutti_embedding_t)0)

/// The division of a table over the ranks. Counterpart: tutti::Sharding.
enum {
  TUTTI_SHARDING_AUTO = 0,
  TUTTI_SHARDING_DATA_PARALLEL = 1,
  TUTTI_SHARDING_TABLE_WISE = 2,
  TUTTI_SHARDING_ROW_WISE = 3,
  TUTTI_SHARDING_COLUMN_WISE = 4,
  TUTTI_SHARDING_ROW_WISE_ON_NODE = 5
};

/// The order in which row-wise tables deal rows to ranks. Counterpart: tutti::RowOrder.
enum { TUTTI_ROW_ORDER_AUTO = 0, TUTTI_ROW_ORDER_BLOCKS = 1, TUTTI_ROW_ORDER_CYCLIC = 2 };

/// The optimizers of rows. Counterpart: tutti::kernels::RowOptimizer.
enum { TUTTI_ROWS_SGD = 0, TUTTI_ROWS_ADAGRAD = 1, TUTTI_ROWS_ROW_WISE_ADAGRAD = 2, TUTTI_ROWS_ADAM = 3 };

/// The way to combine the rows of a bag. Counterpart: tutti::kernels::Pooling.
enum { TUTTI_POOLING_SUM = 0, TUTTI_POOLING_MEAN = 1, TUTTI_POOLING_MAX = 2 };

/// The treatment of an index outside its table. Counterpart: tutti::kernels::IndexPolicy.
enum { TUTTI_INDEX_FATAL = 0, TUTTI_INDEX_CLAMP = 1, TUTTI_INDEX_IGNORE = 2 };

/// The bags that a rank passes: of all samples for the tables that it needs (GLOBAL), or of its own samples for all
/// tables (LOCAL). Counterpart: tutti::InputLayout.
enum { TUTTI_INPUT_GLOBAL = 0, TUTTI_INPUT_LOCAL = 1 };

/// How often rows occur in data: the hottest rows one by one, the others in buckets of rows that occur about equally
/// often. Counterpart: tutti::RowFrequencies.
typedef struct tutti_row_frequencies {
  const int64_t* hot_rows;
  const double* hot_lookups; /* of each hot row */
  size_t hot_count;
  const double* bucket_rows;    /* number of rows in each bucket */
  const double* bucket_lookups; /* of the rows of each bucket together */
  size_t bucket_count;
} tutti_row_frequencies_t;

/// The configuration of a table; equal on all ranks. Counterpart: tutti::EmbeddingTableConfig.
typedef struct tutti_embedding_table {
  const char* name; /* unique among the tables */
  int64_t rows;
  size_t dim;
  tutti_datatype_t datatype;   /* TUTTI_FLOAT32, _FLOAT16, _BFLOAT16 or, scaled by row, _UINT8 */
  int32_t pooling;             /* TUTTI_POOLING_ */
  int32_t sharding;            /* TUTTI_SHARDING_ */
  double mean_lookups;         /* indices per sample, for the planner */
  const double* lookup_shares; /* of equally large blocks of rows, for the planner; copied; NULL: all equal */
  size_t lookup_share_count;   /* numbers in lookup_shares */
  int32_t row_order;           /* TUTTI_ROW_ORDER_ */
  const tutti_row_frequencies_t* frequencies; /* for the planner; copied; NULL: unknown */
} tutti_embedding_table_t;

/// The options of a collection; equal on all ranks, except for the stream. Initialise with
/// TUTTI_EMBEDDING_OPTIONS_INIT.
/// Counterpart: tutti::EmbeddingCollectionOptions.
typedef struct tutti_embedding_options {
  size_t size;       /* sizeof(tutti_embedding_options_t) */
  int32_t version;   /* TUTTI_EMBEDDING_OPTIONS_VERSION */
  int32_t optimizer; /* TUTTI_ROWS_ */
  double epsilon;
  double beta1;
  double beta2;
  size_t max_batch;    /* samples of the largest global batch */
  size_t slots;        /* batches in flight */
  size_t memory_limit; /* limit of rows and state per rank for the planner, in bytes; 0: no limit */
  uint64_t seed;       /* seed of tutti_embedding_initialize and of stochastic rounding */
  int32_t policy;      /* TUTTI_INDEX_ */
  int32_t stochastic_rounding;
  int32_t weighted; /* bags have factors; needed for TUTTI_INPUT_LOCAL only */
  int32_t memory;   /* TUTTI_MEMORY_HOST or _DEVICE, for rows, state, vectors and gradients; bags are in host memory */
  int32_t stream_kind; /* TUTTI_STREAM_ */
  void* stream;        /* orders the work on device memory; must outlive the collection */
  int32_t epsilon_hat; /* TUTTI_ROWS_ADAM: adds epsilon before the bias correction, as torch.optim.SparseAdam */
  int32_t grow;        /* a checkpoint may have fewer rows; the other rows keep their values */
  tutti_datatype_t exchange_datatype; /* TUTTI_FLOAT32, _BFLOAT16 or _FLOAT16: what vectors and gradients travel in */
  size_t table_memory;      /* for tables larger than memory: bytes of a rank's rows and state in memory; 0: no limit */
  const char* table_folder; /* folder of the files with all of them; copied; NULL without table_memory */
} tutti_embedding_options_t;
#define TUTTI_EMBEDDING_OPTIONS_VERSION 1
#define TUTTI_EMBEDDING_OPTIONS_INIT                                                                                   \
  {                                                                                                                    \
    sizeof(tutti_embedding_options_t), TUTTI_EMBEDDING_OPTIONS_VERSION, TUTTI_ROWS_SGD, 1e-10, 0.9, 0.999, 1, 1, 0, 0, \
        TUTTI_INDEX_FATAL, 0, 0, TUTTI_MEMORY_HOST, TUTTI_STREAM_NONE, NULL, 0, 0, TUTTI_FLOAT32, 0, NULL              \
  }

/// The bags of one table: bag b has the indices at positions offsets[b] to offsets[b + 1] - 1. Counterpart:
/// tutti::kernels::TableLookups.
typedef struct tutti_bags {
  const void* indices; /* int32_t or int64_t */
  const int64_t* offsets;
  const float* weights; /* one factor per index, or NULL */
} tutti_bags_t;

/// A part of a table on this rank: every row_step-th of rows [row_begin, row_end), columns [column_begin, column_end).
/// Counterpart: tutti::TableShard.
typedef struct tutti_table_shard {
  size_t table;
  int64_t row_begin;
  int64_t row_end;
  size_t column_begin;
  size_t column_end;
  int64_t row_step; /* 1: a block of rows */
} tutti_table_shard_t;

/// Fills rows [begin, end) of a table; values has dim floats per row. In cyclic order each call is for one row.
typedef void (*tutti_make_rows_t)(int64_t begin, int64_t end, float* values, void* context);

/// Plans the division of the tables and makes them; rows are zero. Collective, blocking. Errors, the same on all ranks:
/// TUTTI_ERROR_INVALID_ARGUMENT, _MISMATCH, _OUT_OF_MEMORY. Counterparts: tutti::plan_sharding and EmbeddingCollection.
TUTTI_API int tutti_embedding_create(tutti_comm_t comm, const tutti_embedding_table_t* tables, size_t count,
                                     const tutti_embedding_options_t* options, tutti_embedding_t* collection);

/// Frees a collection and sets the handle to NULL. Collective.
TUTTI_API int tutti_embedding_free(tutti_embedding_t* collection);

/// Writes the plan and its prediction as a table, as tutti_reducer_map does. Local.
TUTTI_API int tutti_embedding_plan(tutti_embedding_t collection, char* text, size_t capacity, size_t* length);

/// Gives the division of a table in the plan: a TUTTI_SHARDING_ other than AUTO. Local.
TUTTI_API int tutti_embedding_sharding(tutti_embedding_t collection, size_t table, int* sharding);

/// tutti_embedding_needs sets *needs to 1 if this rank passes a table's bags in TUTTI_INPUT_GLOBAL.
/// tutti_embedding_bytes gives the size of this rank's rows and state, in bytes. Local.
TUTTI_API int tutti_embedding_needs(tutti_embedding_t collection, size_t table, int* needs);
TUTTI_API int tutti_embedding_bytes(tutti_embedding_t collection, size_t* bytes);

/// tutti_embedding_initialize draws all rows uniformly in +-1/sqrt(rows), from the option seed. tutti_embedding_fill
/// takes the rows of one table from a function, which it calls for blocks of this rank's rows. Local.
TUTTI_API int tutti_embedding_initialize(tutti_embedding_t collection);
TUTTI_API int tutti_embedding_fill(tutti_embedding_t collection, size_t table, tutti_make_rows_t make, void* context);

/// Gives the number of this rank's shards in *count and writes as many as fit into `capacity`, in the order of the
/// plan. shards may be NULL if capacity is 0. Local.
TUTTI_API int tutti_embedding_shards(tutti_embedding_t collection, tutti_table_shard_t* shards, size_t capacity,
                                     size_t* count);

/// Reads those of rows [row_begin, row_end), numbered in the table, that this rank's shard number `shard` has. values
/// takes `count` values: rows times the shard's columns. Local. Counterpart: tutti::EmbeddingCollection::read_rows.
TUTTI_API int tutti_embedding_read_rows(tutti_embedding_t collection, size_t shard, int64_t row_begin, int64_t row_end,
                                        float* values, size_t count);

/// The calls of one step on a slot, in this order. start_forward takes one tutti_bags_t per table, for `batch` samples
/// of all ranks. After finish_forward, vectors gives the pooled vectors of this rank's `samples` samples, sample s at
/// data + s * stride, and gradients gives the memory for the gradients of these vectors. After start_backward,
/// finish_backward updates the rows. The arrays in the bags must stay unchanged until then. index_datatype is
/// TUTTI_INT32 or TUTTI_INT64. error is NULL, or describes an error in this rank's batch other than its indices; the
/// bags are then ignored, and all ranks fail.
/// Collective, in the same order on all ranks; vectors and gradients are local. start_forward and the finish calls
/// block. Errors of start_forward, the same on all ranks: TUTTI_ERROR_INDEX_OUT_OF_RANGE, _MISMATCH,
/// TUTTI_ERROR_INVALID_ARGUMENT with the text `error`.
TUTTI_API int tutti_embedding_start_forward(tutti_embedding_t collection, size_t slot, const tutti_bags_t* bags,
                                            tutti_datatype_t index_datatype, size_t batch, int layout,
                                            const char* error);
TUTTI_API int tutti_embedding_finish_forward(tutti_embedding_t collection, size_t slot);
TUTTI_API int tutti_embedding_vectors(tutti_embedding_t collection, size_t slot, size_t table, const float** data,
                                      size_t* stride, size_t* samples);
TUTTI_API int tutti_embedding_gradients(tutti_embedding_t collection, size_t slot, size_t table, float** data,
                                        size_t* stride, size_t* samples);
TUTTI_API int tutti_embedding_start_backward(tutti_embedding_t collection, size_t slot);
TUTTI_API int tutti_embedding_finish_backward(tutti_embedding_t collection, size_t slot, double learning_rate);

/// Advances the exchanges in flight without blocking. Local.
TUTTI_API int tutti_embedding_progress(tutti_embedding_t collection);

/// Save and load a checkpoint in a folder that all ranks see; load works with any plan and number of ranks. Collective,
/// blocking. Errors, on all ranks: TUTTI_ERROR_IO; TUTTI_ERROR_INVALID_ARGUMENT for rows or state that are not finite.
/// Counterpart: tutti::save_checkpoint, tutti::load_checkpoint.
TUTTI_API int tutti_embedding_save(tutti_embedding_t collection, const char* folder);
TUTTI_API int tutti_embedding_load(tutti_embedding_t collection, const char* folder);

/// Save the same while training goes on: start, which waits for the save before, then test now and then until *done is
/// 1, or finish, which waits. Freeing the collection gives a save up. Collective; start and test block no longer than
/// the ranks need to come there. Errors, of test and finish: as tutti_embedding_save. Counterpart:
/// tutti::CheckpointSave.
TUTTI_API int tutti_embedding_start_save(tutti_embedding_t collection, const char* folder);
TUTTI_API int tutti_embedding_test_save(tutti_embedding_t collection, int* done);
TUTTI_API int tutti_embedding_finish_save(tutti_embedding_t collection);

/// As tutti_embedding_save and tutti_embedding_start_save, but only with the rows, and their state, that changed since
/// the last incremental save to the folder, added to the checkpoint that is there. The first is full, as is one where
/// the increments have come to have as many bytes, or where something else was saved there. From the first on, the
/// collection keeps one bit for each row of this rank. Collective. Counterpart: tutti::SaveKind::incremental.
TUTTI_API int tutti_embedding_save_incremental(tutti_embedding_t collection, const char* folder);
TUTTI_API int tutti_embedding_start_save_incremental(tutti_embedding_t collection, const char* folder);

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_TUTTI_EMBEDDING_H */
