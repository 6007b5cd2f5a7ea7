// SPDX-License-Identifier: BSD-3-Clause
#include "criteo_text.hpp"

#include <algorithm>

#include "criteo_convert.hpp"

namespace tutti::miniapps {

CriteoText::CriteoText(CriteoTextOptions options) : options_(std::move(options)) {
  CriteoCacheEntry entry = cached_criteo_text(options_);
  options_.known = {};
  summary_ = entry.summary;
  records_ = std::make_unique<CriteoRecordFile>(entry.records);
  categories_ = entry.categories;
  order_.emplace(options_.shuffle, options_.seed,
                 std::span(summary_.day_offsets).first(summary_.day_offsets.size() - 1));
  rows_ = capped_rows(summary_.categories, options_.max_ind_range);
}

std::uint64_t CriteoText::first_sample(Split split) const {
  const std::uint64_t end = summary_.day_offsets.back();
  const std::uint64_t day = *(summary_.day_offsets.end() - 2);  // the last one
  if (options_.all_test && split == Split::validation) {
    return end;
  }
  return split == Split::train ? 0 : split == Split::test ? day : day + (end - day + 1) / 2;
}

std::uint64_t CriteoText::samples(Split split) const {
  switch (split) {
    case Split::train:
      return first_sample(Split::test);
    case Split::test:
      return first_sample(Split::validation) - first_sample(Split::test);
    case Split::validation:
      return summary_.day_offsets.back() - first_sample(Split::validation);
  }
  return 0;
}

CategoryValues CriteoText::categories() const { return read_categories(categories_, summary_); }

std::string CriteoText::description() const {
  const std::string training =
      options_.all_test ? std::string() : std::to_string(samples(Split::train)) + " training and ";
  return "Criteo text " + options_.file.string() + ", " + training + std::to_string(samples(Split::test)) +
         " test samples" +
         (summary_.bad_lines == 0 ? std::string()
                                  : ", " + std::to_string(summary_.bad_lines) + " malformed line(s) skipped, first " +
                                        summary_.first_bad_line);
}

CriteoSplit CriteoText::place(Split split) const {
  return {records_.get(), first_sample(split), split == Split::train ? &*order_ : nullptr};
}

void CriteoText::read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) {
  begin_read(split, batch_size, k, part, batch);
  read_criteo_batch(place(split), batch_size, k, options_.max_ind_range, part.tables, batch);
}

void CriteoText::write_binary(Split split, const std::filesystem::path& path) const {
  constexpr std::size_t block = 4096;
  CriteoRecordWriter writer(path);
  std::vector<CriteoRecord> records(block);
  for (std::uint64_t first = 0; first < samples(split); first += block) {
    records.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block, samples(split) - first)));
    read_criteo_records(place(split), block, first / block, 0, records);
    std::for_each(records.begin(), records.end(), [&](const CriteoRecord& r) { writer.append(r); });
  }
  writer.close();
}

}  // namespace tutti::miniapps
