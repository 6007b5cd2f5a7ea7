// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tutti::miniapps {

/// Whether this build reads and writes Parquet.
[[nodiscard]] bool has_parquet();

/// What a column holds.
enum class ParquetKind {
  integer,  ///< of 8 to 64 bits, signed or not, or truth values
  real,     ///< of 32 or 64 bits
  text      ///< strings, which are read as ids of 32 bits
};

/// A column of numbers or of lists of numbers.
struct ParquetColumn {
  std::string name;
  ParquetKind kind = ParquetKind::integer;
  bool is_list = false;
  std::uint64_t values = 0;  ///< of all rows; of lists the elements, of which an empty list counts as one
};

/// The values of some rows of one column; what is missing is 0, and so is a real that is not a number.
struct ParquetValues {
  std::vector<std::int64_t> integers;  ///< of integers and of texts
  std::vector<double> reals;           ///< of reals
  std::vector<std::uint32_t> lengths;  ///< of lists: the elements of each row
  std::uint64_t missing = 0;           ///< how many are

  void clear();
};

/// Columns of a row group, each read from its begin to its end.
class ParquetRows {
 public:
  virtual ~ParquetRows() = default;
  /// Adds the next `count` rows of column `column` of those asked for. Throws tutti::Error (io) that names file, row
  /// group and column, where they are damaged or not there.
  virtual void read(std::size_t column, std::uint64_t count, ParquetValues& values) = 0;
  /// Passes the next `count` rows of a column. Throws as read().
  virtual void skip(std::size_t column, std::uint64_t count) = 0;
};

/// A file of Parquet, mapped. One thread at a time.
class ParquetFile {
 public:
  virtual ~ParquetFile() = default;
  /// The names of its columns, in their order.
  [[nodiscard]] virtual const std::vector<std::string>& names() const = 0;
  /// The rows of each row group.
  [[nodiscard]] virtual const std::vector<std::uint64_t>& groups() const = 0;
  /// Throws tutti::Error (io), one line, for a name that it lacks, and for a column of another kind than ParquetKind.
  [[nodiscard]] virtual ParquetColumn column(const std::string& name) const = 0;
  /// Lives no longer than the file.
  [[nodiscard]] virtual std::unique_ptr<ParquetRows> rows(std::size_t group,
                                                          std::span<const std::string> columns) const = 0;
};

/// Throws tutti::Error: io, one line that names the file, where it is missing, cut or no Parquet; not_supported, with
/// the remedy, in a build without Parquet.
[[nodiscard]] std::unique_ptr<ParquetFile> open_parquet(const std::filesystem::path& path);

/// Whether a file begins as one of Parquet does; false for one that cannot be read.
[[nodiscard]] bool is_parquet(const std::filesystem::path& path);

/// The id that stands for a text: its value where it is 8 hexadecimal digits, as Criteo's are, 0 where it is empty,
/// else a hash.
[[nodiscard]] std::uint32_t id_of_text(std::string_view text);

/// The id that stands for an integer: itself where it has 32 bits, else a hash.
[[nodiscard]] std::uint32_t id_of_integer(std::int64_t value);

/// The bags of one table: indices one after the other.
struct ParquetBags {
  std::vector<std::int32_t> indices;
  std::vector<std::uint32_t> lengths;  ///< of each sample; empty: one index each, in a column of numbers
};

/// Samples to be written.
struct ParquetSamples {
  std::vector<std::int32_t> labels;
  std::vector<std::vector<std::int32_t>> counts;  ///< dense features before log(x + 1); or
  std::vector<std::vector<float>> reals;          ///< as they are
  std::vector<ParquetBags> tables;
};

/// The content of a file with the columns label, int_0, int_1, ..., cat_0, cat_1, ..., in row groups of at most 65,536
/// samples, compressed by snappy where the library has it. Throws tutti::Error (not_supported) in a build without
/// Parquet.
[[nodiscard]] std::string encode_parquet(const ParquetSamples& samples);

/// The remedy of a build without Parquet.
inline constexpr const char* parquet_remedy =
    "build with -DTUTTI_PYARROW=ON, which takes the libraries of Python's pyarrow, or with Apache Arrow and Parquet";

}  // namespace tutti::miniapps
