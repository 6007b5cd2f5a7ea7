// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/data_source.hpp"

namespace dlrm {

/// For each table how often each of equally large blocks of its rows occurs in some training samples from all over the
/// data, as EmbeddingTableConfig::lookup_shares; empty where there are none. Every rank counts the same samples. Throws
/// as DataSource::read.
[[nodiscard]] std::vector<std::vector<double>> count_lookups(tutti::miniapps::DataSource& source,
                                                             std::span<const std::size_t> rows);

}  // namespace dlrm
