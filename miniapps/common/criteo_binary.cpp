// SPDX-License-Identifier: BSD-3-Clause
#include "criteo_binary.hpp"

#include <algorithm>
#include <array>

#include "data/sidecar.hpp"

namespace tutti::miniapps {

namespace {

std::size_t file_number(Split split) { return static_cast<std::size_t>(split); }

std::vector<std::unique_ptr<CriteoRecordFile>> open_records(const std::filesystem::path& prefix) {
  std::vector<std::unique_ptr<CriteoRecordFile>> files;
  for (const auto& path : criteo_binary_files(prefix)) {
    files.push_back(path.empty() ? nullptr : std::make_unique<CriteoRecordFile>(path));
  }
  return files;
}

}  // namespace

std::array<std::filesystem::path, 3> criteo_binary_files(const std::filesystem::path& prefix) {
  const std::string stem = prefix.string();
  const std::filesystem::path validation = stem + "_val.bin";
  return {stem + "_train.bin", stem + "_test.bin", std::filesystem::exists(validation) ? validation : ""};
}

std::vector<std::uint64_t> capped_rows(std::span<const std::uint64_t> rows, std::int64_t max_ind_range) {
  std::vector<std::uint64_t> capped(rows.begin(), rows.end());
  if (max_ind_range > 0) {
    for (std::uint64_t& each : capped) {
      each = std::min(each, static_cast<std::uint64_t>(max_ind_range));
    }
  }
  return capped;
}

CriteoBinary::CriteoBinary(const CriteoBinaryOptions& options)
    : sidecar_(sidecar_path(options.prefix)),
      files_(open_records(options.prefix)),
      max_ind_range_(options.max_ind_range),
      rows_(capped_rows(options.rows, options.max_ind_range)),
      order_(without_days(options.shuffle), options.seed, std::array{files_[0]->size()}) {}

CriteoBinary::~CriteoBinary() = default;

std::vector<LookupCounts> CriteoBinary::lookup_counts() const {
  const bool is_known = max_ind_range_ <= 0 && std::filesystem::exists(sidecar_);
  return is_known ? miniapps::lookup_counts(read_sidecar(sidecar_)) : std::vector<LookupCounts>();
}

std::uint64_t CriteoBinary::samples(Split split) const {
  const auto& file = files_[file_number(split)];
  return file ? file->size() : 0;
}

std::string CriteoBinary::description() const {
  return "Criteo binary " + files_[0]->path().string() + ", " + std::to_string(samples(Split::train)) +
         " training and " + std::to_string(samples(Split::test)) + " test samples";
}

void CriteoBinary::read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) {
  begin_read(split, batch_size, k, part, batch);
  read_criteo_batch({files_[file_number(split)].get(), 0, split == Split::train ? &order_ : nullptr}, batch_size, k,
                    max_ind_range_, part.tables, batch);
}

}  // namespace tutti::miniapps
