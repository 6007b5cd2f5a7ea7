// SPDX-License-Identifier: BSD-3-Clause
// A build without Parquet.
#include <tutti/error.hpp>

#include "parquet.hpp"

namespace tutti::miniapps {

bool has_parquet() { return false; }

std::unique_ptr<ParquetFile> open_parquet(const std::filesystem::path& path) {
  throw Error(ErrorCode::not_supported,
              path.string() + ": is of Parquet, which this build does not read; " + parquet_remedy);
}

std::string encode_parquet(const ParquetSamples&) {
  throw Error(ErrorCode::not_supported, std::string("this build does not write Parquet; ") + parquet_remedy);
}

}  // namespace tutti::miniapps
