// SPDX-License-Identifier: BSD-3-Clause
#include "parquet.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <string_view>
#include <tutti/error.hpp>

#include "common/counter_random.hpp"

namespace tutti::miniapps {

#ifndef TUTTI_HAVE_PARQUET
bool has_parquet() { return false; }

std::unique_ptr<ParquetFile> open_parquet(const std::filesystem::path& path) {
  throw Error(ErrorCode::not_supported,
              path.string() + ": is of Parquet, which this build does not read; " + parquet_remedy);
}

std::string encode_parquet(const ParquetSamples&) {
  throw Error(ErrorCode::not_supported, std::string("this build does not write Parquet; ") + parquet_remedy);
}
#endif

void ParquetValues::clear() {
  integers.clear();
  reals.clear();
  lengths.clear();
  missing = 0;
}

bool is_parquet(const std::filesystem::path& path) {
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == "PAR1";
}

// The hash: Fowler, Noll and Vo, FNV-1a of 64 bits, mixed.
std::uint32_t id_of_text(std::string_view text) {
  constexpr std::size_t digits = 8;
  constexpr int hexadecimal = 16;
  std::uint32_t value = 0;
  if (text.size() == digits) {
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value, hexadecimal);
    if (stop == end && status == std::errc()) {
      return value;
    }
  }
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return text.empty() ? 0 : static_cast<std::uint32_t>(mix_counter(hash) >> 32U);
}

std::uint32_t id_of_integer(std::int64_t value) {
  const bool has_32_bits =
      value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::uint32_t>::max();
  return has_32_bits ? static_cast<std::uint32_t>(value)
                     : static_cast<std::uint32_t>(mix_counter(static_cast<std::uint64_t>(value)) >> 32U);
}

}  // namespace tutti::miniapps
