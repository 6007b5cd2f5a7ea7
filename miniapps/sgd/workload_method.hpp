// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sgd {

/// How gradients get from rank to rank: a mode, and what buckets are told.
struct Method {
  std::string name = "overlap";                       ///< for tables
  std::string mode = "overlap";                       ///< none, naive, flat, bucketed, overlap
  std::string hook = "none";                          ///< of bucketed and overlap: none, bf16, fp16, powersgd
  std::size_t bucket_bytes = std::size_t{25} << 20U;  ///< 0: chosen by measurement
  std::size_t first_bucket_bytes = std::size_t{1} << 20U;
  std::size_t communicators = 1;
  bool progress_thread = false;
  std::size_t power_sgd_rank = 2;
  std::size_t power_sgd_start = 10;

  [[nodiscard]] bool has_buckets() const { return mode == "bucketed" || mode == "overlap"; }
  [[nodiscard]] bool is_exact() const { return !has_buckets() || hook == "none"; }
};

/// "none,flat,overlap,hook=bf16" as methods that share what `base` says of buckets; none is put first where it is
/// absent, since all others are held against it. Throws tutti::Error (invalid_argument) that names `flag`.
[[nodiscard]] std::vector<Method> parse_methods(const std::string& flag, std::string_view text, const Method& base);

}  // namespace sgd
