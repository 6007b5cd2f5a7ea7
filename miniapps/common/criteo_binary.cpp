// SPDX-License-Identifier: BSD-3-Clause
#include "criteo_binary.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti::miniapps {

void prepare_criteo_batch(std::size_t count, SampleRange range, std::size_t tables, Batch& batch) {
  batch.count = count;
  batch.range = range;
  batch.dense.resize(range.size() * criteo_dense);
  batch.labels.resize(range.size());
  batch.tables.resize(tables);
  for (TableBags& bags : batch.tables) {
    bags.indices.resize(count);
    bags.offsets.resize(count + 1);
    for (std::size_t i = 0; i <= count; ++i) {
      bags.offsets[i] = static_cast<std::int64_t>(i);
    }
  }
}

void put_criteo_record(const CriteoRecord& record, std::size_t sample, std::int64_t max_ind_range,
                       std::span<const std::size_t> tables, Batch& batch) {
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const std::int64_t category = record.categories[tables[t]];
    batch.tables[t].indices[sample] = max_ind_range > 0 ? category % max_ind_range : category;
  }
  if (sample < batch.range.begin || sample >= batch.range.end) {
    return;
  }
  const std::size_t row = sample - batch.range.begin;
  batch.labels[row] = static_cast<float>(record.label);
  for (std::size_t j = 0; j < criteo_dense; ++j) {
    batch.dense[row * criteo_dense + j] = std::log(static_cast<float>(record.dense[j]) + 1.0F);
  }
}

namespace {

constexpr std::size_t scan_block = 4096;

/// Raises `rows` to what the file's categories need.
void scan(const CriteoRecordFile& file, std::int64_t max_ind_range, std::vector<std::uint64_t>& rows) {
  std::vector<CriteoRecord> block(scan_block);
  for (std::uint64_t first = 0; first < file.size(); first += scan_block) {
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(scan_block, file.size() - first)));
    file.read(first, block);
    for (std::size_t i = 0; i < block.size(); ++i) {
      for (std::size_t t = 0; t < criteo_tables; ++t) {
        const std::int64_t category = block[i].categories[t];
        const std::int64_t index = max_ind_range > 0 ? category % max_ind_range : category;
        rows[t] = std::max(rows[t], static_cast<std::uint64_t>(index) + 1);
      }
    }
  }
}

std::size_t file_number(Split split) { return static_cast<std::size_t>(split); }

}  // namespace

CriteoBinary::CriteoBinary(const CriteoBinaryOptions& options)
    : max_ind_range_(options.max_ind_range), rows_(criteo_tables, 1) {
  const std::array<const char*, 3> suffixes{"_train.bin", "_test.bin", "_val.bin"};
  for (const char* suffix : suffixes) {
    const std::filesystem::path path = options.prefix.string() + suffix;
    if (std::string(suffix) == "_val.bin" && !std::filesystem::exists(path)) {
      files_.push_back(nullptr);
      continue;
    }
    files_.push_back(std::make_unique<CriteoRecordFile>(path));
  }
  for (const auto& file : files_) {
    if (file) {
      scan(*file, max_ind_range_, rows_);
    }
  }
}

CriteoBinary::~CriteoBinary() = default;

std::uint64_t CriteoBinary::samples(Split split) const {
  const auto& file = files_[file_number(split)];
  return file ? file->size() : 0;
}

std::string CriteoBinary::description() const {
  return "Criteo binary " + files_[0]->path().string() + ", " + std::to_string(samples(Split::train)) +
         " training and " + std::to_string(samples(Split::test)) + " test samples";
}

void CriteoBinary::read(Split split, std::size_t batch_size, std::uint64_t k, SampleRange range,
                        std::span<const std::size_t> tables, Batch& batch) {
  const std::size_t count = check_read(split, batch_size, k, range, tables);
  buffer_.resize(count);
  files_[file_number(split)]->read(k * batch_size, buffer_);
  prepare_criteo_batch(count, range, tables.size(), batch);
  for (std::size_t i = 0; i < count; ++i) {
    put_criteo_record(buffer_[i], i, max_ind_range_, tables, batch);
  }
}

}  // namespace tutti::miniapps
