// SPDX-License-Identifier: BSD-3-Clause
// Files of Parquet, written by the libraries of Apache Arrow.
#include <arrow/io/memory.h>
#include <arrow/util/compression.h>
#include <parquet/api/writer.h>

#include <algorithm>
#include <stdexcept>

#include "parquet.hpp"

namespace tutti::miniapps {

namespace {

using parquet::Repetition;
using parquet::schema::GroupNode;
using parquet::schema::NodePtr;
using parquet::schema::PrimitiveNode;

NodePtr list_of_integers(const std::string& name) {
  const auto element = PrimitiveNode::Make("element", Repetition::REQUIRED, parquet::Type::INT32);
  const auto list = GroupNode::Make("list", Repetition::REPEATED, {element});
  return GroupNode::Make(name, Repetition::REQUIRED, {list}, parquet::LogicalType::List());
}

std::shared_ptr<GroupNode> schema_of(const ParquetSamples& samples) {
  parquet::schema::NodeVector fields;
  const auto add = [&](const std::string& name, parquet::Type::type type) {
    fields.push_back(PrimitiveNode::Make(name, Repetition::REQUIRED, type));
  };
  add("label", parquet::Type::INT32);
  for (std::size_t j = 0; j < samples.counts.size() + samples.reals.size(); ++j) {
    add("int_" + std::to_string(j), samples.reals.empty() ? parquet::Type::INT32 : parquet::Type::FLOAT);
  }
  for (std::size_t t = 0; t < samples.tables.size(); ++t) {
    const std::string name = "cat_" + std::to_string(t);
    if (samples.tables[t].lengths.empty()) {
      add(name, parquet::Type::INT32);
    } else {
      fields.push_back(list_of_integers(name));
    }
  }
  return std::static_pointer_cast<GroupNode>(GroupNode::Make("schema", Repetition::REQUIRED, fields));
}

/// Writes row groups; lists are taken one after the other.
class Encoder {
 public:
  explicit Encoder(const ParquetSamples& samples) : samples_(samples), taken_(samples.tables.size()) {}

  void write(parquet::RowGroupWriter& group, std::size_t begin, std::size_t end) {
    write_column<parquet::Int32Type>(group, samples_.labels, begin, end);
    for (const auto& column : samples_.counts) {
      write_column<parquet::Int32Type>(group, column, begin, end);
    }
    for (const auto& column : samples_.reals) {
      write_column<parquet::FloatType>(group, column, begin, end);
    }
    for (std::size_t t = 0; t < samples_.tables.size(); ++t) {
      const ParquetBags& bags = samples_.tables[t];
      if (bags.lengths.empty()) {
        write_column<parquet::Int32Type>(group, bags.indices, begin, end);
      } else {
        write_lists(group, bags, begin, end, taken_[t]);
      }
    }
  }

 private:
  template <typename Type, typename T>
  static void write_column(parquet::RowGroupWriter& group, const std::vector<T>& values, std::size_t begin,
                           std::size_t end) {
    auto& writer = dynamic_cast<parquet::TypedColumnWriter<Type>&>(*group.NextColumn());
    writer.WriteBatch(static_cast<std::int64_t>(end - begin), nullptr, nullptr, values.data() + begin);
    writer.Close();
  }

  /// An empty bag has one level, and no value.
  void write_lists(parquet::RowGroupWriter& group, const ParquetBags& bags, std::size_t begin, std::size_t end,
                   std::size_t& taken) {
    definitions_.clear();
    repetitions_.clear();
    const std::size_t first = taken;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t levels = std::max<std::size_t>(bags.lengths[i], 1);
      definitions_.insert(definitions_.end(), levels, bags.lengths[i] > 0 ? std::int16_t{1} : std::int16_t{0});
      repetitions_.push_back(0);
      repetitions_.insert(repetitions_.end(), levels - 1, 1);
      taken += bags.lengths[i];
    }
    auto& writer = dynamic_cast<parquet::Int32Writer&>(*group.NextColumn());
    writer.WriteBatch(static_cast<std::int64_t>(definitions_.size()), definitions_.data(), repetitions_.data(),
                      bags.indices.data() + first);
    writer.Close();
  }

  const ParquetSamples& samples_;
  std::vector<std::size_t> taken_;
  std::vector<std::int16_t> definitions_;
  std::vector<std::int16_t> repetitions_;
};

std::shared_ptr<parquet::WriterProperties> writer_properties() {
  parquet::WriterProperties::Builder builder;
  if (arrow::util::Codec::IsAvailable(arrow::Compression::SNAPPY)) {
    builder.compression(arrow::Compression::SNAPPY);
  }
  return builder.build();
}

template <typename T>
T expect_ok(arrow::Result<T> result) {
  if (!result.ok()) {
    throw std::runtime_error(result.status().ToString());
  }
  return std::move(result).ValueUnsafe();
}

}  // namespace

std::string encode_parquet(const ParquetSamples& samples) {
  constexpr std::size_t group_samples = 65536;
  const std::size_t count = samples.labels.size();
  const auto sink = expect_ok(arrow::io::BufferOutputStream::Create());
  const auto writer = parquet::ParquetFileWriter::Open(sink, schema_of(samples), writer_properties());
  Encoder encoder(samples);
  for (std::size_t begin = 0; begin < count; begin += group_samples) {
    encoder.write(*writer->AppendRowGroup(), begin, std::min(begin + group_samples, count));
  }
  writer->Close();
  return expect_ok(sink->Finish())->ToString();
}

}  // namespace tutti::miniapps
