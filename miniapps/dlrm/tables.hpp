// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <tutti/embedding_collection.hpp>
#include <vector>

#include "batch_feed.hpp"
#include "common/data_source.hpp"
#include "model_shape.hpp"
#include "options.hpp"

namespace dlrm {

/// The embedding tables of a model, with the sharding that --sharding names. For several ranks lookups are counted in
/// data that is read.
[[nodiscard]] std::vector<tutti::EmbeddingTableConfig> make_tables(const Options& options, const ModelShape& shape,
                                                                   tutti::miniapps::DataSource& source, int ranks);

[[nodiscard]] tutti::kernels::RowOptimizer row_optimizer(const Options& options);

/// Divides the tables over the ranks. Collective over `comm`; blocking. Throws tutti::Error, on all ranks alike.
[[nodiscard]] tutti::ShardingPlan make_plan(const tutti::Communicator& comm, const Options& options,
                                            const std::vector<tutti::EmbeddingTableConfig>& tables);

/// What --table-memory leaves in memory of tables of so many bytes.
[[nodiscard]] std::size_t bytes_in_memory(const Options& options, std::size_t bytes);

/// Throws AgreedError, on all ranks alike, where a rank gets more rows of a table than the backward pass can number.
void require_trainable(const tutti::ShardingPlan& plan);

/// Throws AgreedError, on all ranks alike, where another number of ranks or another plan could give other bits: sums
/// over divided bags or columns, and blocks that the ranks' slices of a batch cut.
void require_reproducible(const tutti::ShardingPlan& plan, const Options& options,
                          std::span<const tutti::EmbeddingTableConfig> tables);

[[nodiscard]] tutti::EmbeddingCollectionOptions collection_options(const Options& options, const ModelShape& shape);

/// What a rank reads of each batch: of a data set its own samples alone, whose bags then travel to the ranks with the
/// rows; of data that are made, which costs no more for all samples, what it looks up.
[[nodiscard]] ReaderPart reader_part(const Options& options, const tutti::EmbeddingCollection& embeddings, int rank,
                                     int ranks);

/// The lookups of each table: those of the whole data where the source knows them and tables have its rows; else
/// counted in training samples from all over the data, as many as four batches have. Every rank counts the same
/// samples. Throws as DataSource::read.
[[nodiscard]] std::vector<tutti::miniapps::LookupCounts> count_lookups(tutti::miniapps::DataSource& source,
                                                                       std::span<const std::size_t> rows,
                                                                       std::size_t batch);

}  // namespace dlrm
