// SPDX-License-Identifier: BSD-3-Clause
#include "parquet_output.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <tutti/collectives/allreduce.hpp>

#include "common/agree.hpp"

namespace tutti::data {

namespace {

using miniapps::DraftFile;
using miniapps::ParquetBags;
using miniapps::ParquetSamples;

/// Samples [begin, end) of a part.
struct PartRange {
  std::size_t begin;
  std::size_t end;
};

ParquetBags bags_of(const PartFile& part, std::size_t t, const std::vector<std::uint32_t>& rows, PartRange range,
                    const OutputShape& shape) {
  ParquetBags bags;
  std::size_t first = range.begin * shape.hotness[t];
  std::size_t end = range.end * shape.hotness[t];
  if (shape.ragged) {
    const auto lengths = part.lengths(t);
    bags.lengths.assign(lengths.begin() + static_cast<std::ptrdiff_t>(range.begin),
                        lengths.begin() + static_cast<std::ptrdiff_t>(range.end));
    first =
        std::accumulate(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(range.begin), std::size_t{0});
    end = std::accumulate(bags.lengths.begin(), bags.lengths.end(), first);
  } else if (shape.hotness[t] > 1) {
    bags.lengths.assign(range.end - range.begin, static_cast<std::uint32_t>(shape.hotness[t]));
  }
  const auto places = part.places(t).subspan(first, end - first);
  bags.indices.resize(places.size());
  std::ranges::transform(places, bags.indices.begin(),
                         [&](std::uint32_t place) { return static_cast<std::int32_t>(rows[place]); });
  return bags;
}

ParquetSamples samples_of(const PartFile& part, const std::vector<std::vector<std::uint32_t>>& rows, PartRange range,
                          const OutputShape& shape) {
  ParquetSamples samples;
  const auto labels = part.labels().subspan(range.begin, range.end - range.begin);
  samples.labels.assign(labels.begin(), labels.end());
  for (std::size_t j = 0; j < shape.dense_features; ++j) {
    const auto column = part.dense(j).subspan(range.begin, range.end - range.begin);
    if (shape.dense_rule == DenseRule::given) {
      std::ranges::transform(column, std::back_inserter(samples.reals.emplace_back()),
                             [](std::int32_t bits) { return std::bit_cast<float>(bits); });
    } else {
      std::ranges::transform(column, std::back_inserter(samples.counts.emplace_back()),
                             [&](std::int32_t value) { return before_log(value, shape.dense_rule); });
    }
  }
  for (std::size_t t = 0; t < shape.hotness.size(); ++t) {
    samples.tables.push_back(bags_of(part, t, rows[t], range, shape));
  }
  return samples;
}

}  // namespace

std::vector<OutputFile> parquet_files(const Catalog& catalog, const std::vector<std::uint64_t>& day_ends) {
  std::vector<OutputFile> files;
  const auto first_samples = catalog.first_samples();
  std::size_t day = 0;
  std::size_t number = 0;
  for (std::size_t p = 0; p < catalog.parts.size(); ++p) {
    for (std::uint64_t at = first_samples[p]; at < first_samples[p + 1];) {
      while (at == day_ends[day]) {
        ++day;
        number = 0;
      }
      const std::uint64_t end = std::min(first_samples[p + 1], day_ends[day]);
      files.push_back({{fmt::format("day_{}_{:05}.parquet", day, number++), "samples", end - at, 0, 0}, at, {}});
      at = end;
    }
  }
  return files;
}

ParquetOutput::ParquetOutput(const Communicator& comm, const OutputLayout& layout, const OutputShape& shape,
                             const Catalog& catalog)
    : layout_(layout), shape_(shape), first_samples_(catalog.first_samples()), facts_(2 * layout.files.size()) {
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      std::filesystem::create_directories(layout.folder);
    }
  });
}

void ParquetOutput::write(const PartFile& part, std::size_t number,
                          const std::vector<std::vector<std::uint32_t>>& rows) {
  const std::uint64_t begin = first_samples_[number];
  const std::uint64_t end = first_samples_[number + 1];
  const auto begins = std::ranges::lower_bound(layout_.files, begin, {}, &OutputFile::first_sample);
  for (auto f = static_cast<std::size_t>(begins - layout_.files.begin()); f < layout_.files.size(); ++f) {
    const OutputFile& file = layout_.files[f];
    if (file.first_sample >= end) {
      break;
    }
    const auto first = static_cast<std::size_t>(file.first_sample - begin);
    const PartRange range{first, first + static_cast<std::size_t>(file.facts.samples)};
    const std::string content = miniapps::encode_parquet(samples_of(part, rows, range, shape_));
    DraftFile draft(layout_.folder / file.facts.name);
    draft.append(std::as_bytes(std::span(content)));
    draft.keep();
    facts_[2 * f] = ::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    facts_[2 * f + 1] = content.size();
  }
}

std::vector<miniapps::SidecarFile> ParquetOutput::finish(const Communicator& comm) {
  allreduce(comm, in_place, facts_, sum);
  std::vector<miniapps::SidecarFile> files;
  for (std::size_t f = 0; f < layout_.files.size(); ++f) {
    files.push_back(layout_.files[f].facts);
    files.back().crc32 = static_cast<std::uint32_t>(facts_[2 * f]);
    files.back().bytes = facts_[2 * f + 1];
  }
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      std::error_code ignored;
      std::filesystem::remove(layout_.sidecar, ignored);  // the one of the files that are replaced now
      for (const auto& file : files) {
        DraftFile(layout_.folder / file.name, DraftFile::Role::writer).commit(false);
      }
    }
  });
  return files;
}

}  // namespace tutti::data
