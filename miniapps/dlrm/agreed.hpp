// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/embedding_collection.hpp>
#include <tutti/error.hpp>
#include <vector>

#include "common/agree.hpp"
#include "common/data_source.hpp"

namespace dlrm {

/// What a collection throws about a batch it throws on all ranks.
template <typename Call>
void agreed(const Call& call) {
  try {
    call();
  } catch (const tutti::Error& error) {
    const auto code = error.code();
    if (code == tutti::ErrorCode::index_out_of_range || code == tutti::ErrorCode::invalid_argument ||
        code == tutti::ErrorCode::mismatch) {
      throw tutti::miniapps::AgreedError(code, error.what());
    }
    throw;
  }
}

/// A batch as a collection takes it: the bags that were read, or none where it has an error. `lookups` is its memory;
/// it, the batch and the error stay unchanged while the input is in use.
inline tutti::EmbeddingInput make_input(const tutti::EmbeddingCollection& embeddings,
                                        const tutti::miniapps::Batch& batch, const std::string& local_error,
                                        std::vector<tutti::kernels::TableLookups>& lookups) {
  const bool own = batch.bags == tutti::miniapps::BagSamples::own;
  lookups.assign(embeddings.tables(), {});
  std::size_t read = 0;
  for (std::size_t t = 0; t < lookups.size() && local_error.empty(); ++t) {
    if (own || embeddings.needs(t)) {
      const auto& bags = batch.tables[read++];
      lookups[t] = {bags.indices.data(), bags.offsets.data(), nullptr};
    }
  }
  return {.tables = lookups,
          .batch = batch.count,
          .layout = own ? tutti::InputLayout::local : tutti::InputLayout::global,
          .error = local_error};
}

}  // namespace dlrm
