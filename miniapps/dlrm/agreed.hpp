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

/// The bags of a batch as a collection takes them; none of a batch with an error.
inline void fill_lookups(const tutti::EmbeddingCollection& embeddings, const tutti::miniapps::Batch& batch,
                         const std::string& local_error, std::vector<tutti::kernels::TableLookups>& lookups) {
  lookups.assign(embeddings.tables(), {});
  std::size_t read = 0;
  for (std::size_t t = 0; t < lookups.size() && local_error.empty(); ++t) {
    if (embeddings.needs(t)) {
      const auto& bags = batch.tables[read++];
      lookups[t] = {bags.indices.data(), bags.offsets.data(), nullptr};
    }
  }
}

}  // namespace dlrm
