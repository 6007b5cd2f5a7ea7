// SPDX-License-Identifier: BSD-3-Clause
// Files of Parquet, read by the libraries of Apache Arrow.
#include <parquet/api/reader.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tutti/error.hpp>
#include <type_traits>

#include "parquet.hpp"

namespace tutti::miniapps {

namespace {

[[noreturn]] void fail_parquet(const std::string& name, const std::string& what) {
  throw Error(ErrorCode::io, name + ": " + what);
}

/// The begin of a message of Arrow's, without line ends.
std::string short_text(const char* text) {
  constexpr std::size_t most = 100;
  std::string part = text;
  part.resize(std::min(part.size(), most));
  std::ranges::replace_if(
      part, [](char c) { return c >= 0 && c < ' '; }, ' ');
  return part;
}

/// Calls what may throw an exception of Arrow's.
template <typename Call>
auto guarded(const std::string& name, Call&& call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail_parquet(name, "is damaged, or no Parquet: " + short_text(error.what()) + "; copy or write it again");
  }
}

bool is_integer(const parquet::LogicalType& type) { return type.is_none() || type.is_int() || type.is_null(); }

/// Throws nothing: none where values of the type are neither numbers nor texts.
bool kind_of(const parquet::ColumnDescriptor& leaf, ParquetKind& kind) {
  const parquet::LogicalType& type = *leaf.logical_type();
  switch (leaf.physical_type()) {
    case parquet::Type::BOOLEAN:
      kind = ParquetKind::integer;
      return true;
    case parquet::Type::INT32:
    case parquet::Type::INT64:
      kind = ParquetKind::integer;
      return is_integer(type);
    case parquet::Type::FLOAT:
    case parquet::Type::DOUBLE:
      kind = ParquetKind::real;
      return true;
    case parquet::Type::BYTE_ARRAY:
      kind = ParquetKind::text;
      return type.is_none() || type.is_string() || type.is_enum() || type.is_null();
    default:
      return false;
  }
}

bool is_unsigned(const parquet::ColumnDescriptor& leaf) {
  const auto* type = dynamic_cast<const parquet::IntLogicalType*>(leaf.logical_type().get());
  return type != nullptr && !type->is_signed();
}

/// From which definition level on a list has an element.
std::int16_t element_level(const parquet::ColumnDescriptor& leaf) {
  std::int16_t level = 0;
  std::int16_t found = 0;
  std::vector<const parquet::schema::Node*> path;
  for (const auto* node = leaf.schema_node().get(); node->parent() != nullptr; node = node->parent()) {
    path.push_back(node);
  }
  for (auto node = path.rbegin(); node != path.rend(); ++node) {
    level = static_cast<std::int16_t>(level + ((*node)->is_required() ? 0 : 1));
    found = (*node)->is_repeated() ? level : found;
  }
  return found;
}

/// One column of a row group.
class Column {
 public:
  virtual ~Column() = default;
  virtual void read(std::uint64_t count, ParquetValues& values) = 0;
  virtual void skip(std::uint64_t count) = 0;
};

template <typename Type>
class TypedColumn final : public Column {
 public:
  using Value = typename Type::c_type;

  TypedColumn(std::shared_ptr<parquet::ColumnReader> reader, std::string name)
      : reader_(std::static_pointer_cast<parquet::TypedColumnReader<Type>>(std::move(reader))),
        name_(std::move(name)),
        is_unsigned_(is_unsigned(*reader_->descr())),
        is_list_(reader_->descr()->max_repetition_level() > 0),
        most_(reader_->descr()->max_definition_level()),
        element_(element_level(*reader_->descr())),
        definitions_(block),
        repetitions_(is_list_ ? block : 0),
        raw_(std::make_unique<Value[]>(block)) {}

  void read(std::uint64_t count, ParquetValues& values) override {
    is_list_ ? read_lists(count, values) : read_numbers(count, values);
  }

  void skip(std::uint64_t count) override {
    if (!is_list_) {
      const std::int64_t passed = reader_->Skip(static_cast<std::int64_t>(count));
      return check_end(static_cast<std::uint64_t>(passed) < count);
    }
    ParquetValues passed;
    for (std::uint64_t done = 0; done < count; done += block) {
      read_lists(std::min<std::uint64_t>(block, count - done), passed);
      passed.clear();
    }
  }

 private:
  static constexpr std::size_t block = 2048;  // levels, whose values stay in the first cache

  void check_end(bool is_short) const {
    if (is_short) {
      fail_parquet(name_, "has less values than its footer says; copy or write it again");
    }
  }

  /// Levels that were read, at most `most`.
  std::size_t next_levels(std::uint64_t most) {
    std::int64_t values = 0;
    const auto levels =
        reader_->ReadBatch(static_cast<std::int64_t>(std::min<std::uint64_t>(most, block)), definitions_.data(),
                           is_list_ ? repetitions_.data() : nullptr, raw_.get(), &values);
    values_ = static_cast<std::size_t>(values);
    return static_cast<std::size_t>(levels);
  }

  void read_numbers(std::uint64_t count, ParquetValues& out) {
    for (std::uint64_t done = 0; done < count;) {
      const std::size_t levels = next_levels(count - done);
      check_end(levels == 0);
      const Value* next = raw_.get();
      if (values_ == levels) {
        put_all(std::span(next, levels), out);
      } else {
        for (std::size_t i = 0; i < levels; ++i) {
          put(definitions_[i] == most_ ? next++ : nullptr, out);
        }
      }
      done += levels;
    }
  }

  /// A row ends where the next one begins, or the column does: levels that were read wait for the next call.
  void read_lists(std::uint64_t count, ParquetValues& out) {
    std::uint64_t rows = 0;
    while (true) {
      if (at_ == levels_) {
        at_ = 0;
        used_ = 0;
        levels_ = next_levels(block);
        if (levels_ == 0) {
          return check_end(rows < count);
        }
      }
      const bool begins = repetitions_[at_] == 0;
      if (begins && rows == count) {
        return;
      }
      check_end(rows == 0 && !begins);
      rows += begins ? 1 : 0;
      if (begins) {
        out.lengths.push_back(0);
      }
      if (definitions_[at_] >= element_) {
        ++out.lengths.back();
        put(definitions_[at_] == most_ ? &raw_[used_++] : nullptr, out);
      }
      ++at_;
    }
  }

  void put_all(std::span<const Value> values, ParquetValues& out) const {
    if constexpr (std::is_integral_v<Value>) {
      const std::size_t before = out.integers.size();
      out.integers.resize(before + values.size());
      std::ranges::transform(values, out.integers.begin() + static_cast<std::ptrdiff_t>(before),
                             [this](Value value) { return integer(value); });
    } else {
      for (const Value& value : values) {
        put(&value, out);
      }
    }
  }

  [[nodiscard]] std::int64_t integer(Value value) const {
    const bool is_wide = is_unsigned_ && sizeof(Value) == sizeof(std::int32_t);
    return is_wide ? static_cast<std::int64_t>(static_cast<std::uint32_t>(value)) : static_cast<std::int64_t>(value);
  }

  /// Null for a missing value.
  void put(const Value* value, ParquetValues& out) const {
    if constexpr (std::is_floating_point_v<Value>) {
      const bool has = value != nullptr && !std::isnan(*value);
      out.missing += has ? 0 : 1;
      out.reals.push_back(has ? static_cast<double>(*value) : 0);
    } else {
      out.missing += value == nullptr ? 1 : 0;
      if constexpr (std::is_integral_v<Value>) {
        out.integers.push_back(value == nullptr ? 0 : integer(*value));
      } else {
        const auto text = [&] { return std::string_view(reinterpret_cast<const char*>(value->ptr), value->len); };
        out.integers.push_back(value == nullptr ? 0 : id_of_text(text()));
      }
    }
  }

  std::shared_ptr<parquet::TypedColumnReader<Type>> reader_;
  std::string name_;
  bool is_unsigned_;
  bool is_list_;
  std::int16_t most_;
  std::int16_t element_;
  std::vector<std::int16_t> definitions_;
  std::vector<std::int16_t> repetitions_;
  std::unique_ptr<Value[]> raw_;
  std::size_t values_ = 0;
  std::size_t levels_ = 0;
  std::size_t at_ = 0;    ///< the level, and
  std::size_t used_ = 0;  ///< the value that comes next in a column of lists
};

std::unique_ptr<Column> make_column(std::shared_ptr<parquet::ColumnReader> reader, const std::string& name) {
  switch (reader->type()) {
    case parquet::Type::BOOLEAN:
      return std::make_unique<TypedColumn<parquet::BooleanType>>(std::move(reader), name);
    case parquet::Type::INT32:
      return std::make_unique<TypedColumn<parquet::Int32Type>>(std::move(reader), name);
    case parquet::Type::INT64:
      return std::make_unique<TypedColumn<parquet::Int64Type>>(std::move(reader), name);
    case parquet::Type::FLOAT:
      return std::make_unique<TypedColumn<parquet::FloatType>>(std::move(reader), name);
    case parquet::Type::DOUBLE:
      return std::make_unique<TypedColumn<parquet::DoubleType>>(std::move(reader), name);
    default:
      return std::make_unique<TypedColumn<parquet::ByteArrayType>>(std::move(reader), name);
  }
}

class ArrowRows final : public ParquetRows {
 public:
  ArrowRows(std::vector<std::unique_ptr<Column>> columns, std::vector<std::string> names)
      : columns_(std::move(columns)), names_(std::move(names)) {}

  void read(std::size_t column, std::uint64_t count, ParquetValues& values) override {
    guarded(names_[column], [&] { columns_[column]->read(count, values); });
  }
  void skip(std::size_t column, std::uint64_t count) override {
    guarded(names_[column], [&] { columns_[column]->skip(count); });
  }

 private:
  std::vector<std::unique_ptr<Column>> columns_;
  std::vector<std::string> names_;
};

class ArrowFile final : public ParquetFile {
 public:
  explicit ArrowFile(const std::filesystem::path& path) : path_(path.string()) {
    guarded(path_, [&] {
      file_ = parquet::ParquetFileReader::OpenFile(path_, true);
      read_footer(*file_->metadata());
    });
  }

  [[nodiscard]] const std::vector<std::string>& names() const override { return names_; }
  [[nodiscard]] const std::vector<std::uint64_t>& groups() const override { return groups_; }

  [[nodiscard]] ParquetColumn column(const std::string& name) const override {
    const parquet::ColumnDescriptor& leaf = *file_->metadata()->schema()->Column(leaf_of(name));
    ParquetColumn column{name};
    const bool is_known = kind_of(leaf, column.kind);
    if (!is_known || leaf.max_repetition_level() > 1 || leaves_.at(name).second > 1) {
      fail_parquet(path_, "column '" + short_name(name) +
                              "' holds neither numbers, nor texts, nor lists of them; name another, or save it as one");
    }
    column.is_list = leaf.max_repetition_level() == 1;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      const auto chunk = file_->metadata()->RowGroup(static_cast<int>(group))->ColumnChunk(leaf_of(name));
      column.values += static_cast<std::uint64_t>(chunk->num_values());
    }
    return column;
  }

  [[nodiscard]] std::unique_ptr<ParquetRows> rows(std::size_t group,
                                                  std::span<const std::string> names) const override {
    const std::string place = path_ + ": row group " + std::to_string(group);
    return guarded(place, [&] {
      std::vector<std::unique_ptr<Column>> columns;
      std::vector<std::string> places;
      const auto reader = file_->RowGroup(static_cast<int>(group));
      for (const std::string& name : names) {
        places.push_back(place + ", column '" + short_name(name) + "'");
        columns.push_back(make_column(reader->Column(leaf_of(name)), places.back()));
      }
      return std::make_unique<ArrowRows>(std::move(columns), std::move(places));
    });
  }

 private:
  static constexpr std::int64_t most_rows = std::int64_t{1} << 40U;

  static std::string short_name(const std::string& name) { return name.substr(0, 40); }

  void read_footer(const parquet::FileMetaData& footer) {
    const auto* schema = footer.schema();
    for (int i = 0; i < schema->num_columns(); ++i) {
      const std::string& name = schema->GetColumnRoot(i)->name();
      auto& [leaf, leaves] = leaves_[name];
      if (leaves++ == 0) {
        leaf = i;
        names_.push_back(name);
      }
    }
    for (int i = 0; i < footer.num_row_groups(); ++i) {
      const std::int64_t rows = footer.RowGroup(i)->num_rows();
      if (rows < 0 || rows > most_rows) {
        fail_parquet(path_, "is damaged: row group " + std::to_string(i) + " has " + std::to_string(rows) + " rows");
      }
      groups_.push_back(static_cast<std::uint64_t>(rows));
    }
  }

  [[nodiscard]] int leaf_of(const std::string& name) const {
    const auto found = leaves_.find(name);
    if (found == leaves_.end()) {
      fail_parquet(path_, "has no column '" + short_name(name) + "'; name the columns that it has");
    }
    return found->second.first;
  }

  std::string path_;
  std::unique_ptr<parquet::ParquetFileReader> file_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> groups_;
  std::map<std::string, std::pair<int, int>> leaves_;  ///< of each name its first leaf, and how many it has
};

}  // namespace

bool has_parquet() { return true; }

std::unique_ptr<ParquetFile> open_parquet(const std::filesystem::path& path) {
  return std::make_unique<ArrowFile>(path);
}

}  // namespace tutti::miniapps
