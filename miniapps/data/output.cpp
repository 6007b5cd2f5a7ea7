// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/barrier.hpp>

#include "common/agree.hpp"
#include "common/criteo_binary.hpp"

namespace tutti::data {

namespace {

using miniapps::CriteoRecord;
using miniapps::DraftFile;

using Rows = std::vector<std::vector<std::uint32_t>>;

/// Samples [begin, end) of a part.
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t crc = 0) {
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::uint32_t joined(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  return static_cast<std::uint32_t>(::crc32_combine(first, second, static_cast<z_off_t>(second_bytes)));
}

template <typename T>
std::span<T> room(std::vector<std::byte>& buffer, std::size_t count) {
  buffer.resize(count * sizeof(T));
  return {reinterpret_cast<T*>(buffer.data()), count};
}

/// Column by column within blocks that stay in the cache.
void encode_records(const PartFile& part, const Rows& rows, DenseRule rule, Extent extent,
                    std::span<CriteoRecord> out) {
  constexpr std::size_t block = 256;
  for (std::size_t first = 0; first < extent.size(); first += block) {
    const std::size_t count = std::min(block, extent.size() - first);
    const auto records = out.subspan(first, count);
    const std::size_t from = extent.begin + first;
    for (std::size_t i = 0; i < count; ++i) {
      records[i].label = part.labels()[from + i];
    }
    for (std::size_t j = 0; j < miniapps::criteo_dense; ++j) {
      const auto column = part.dense(j).subspan(from, count);
      for (std::size_t i = 0; i < count; ++i) {
        records[i].dense[j] = before_log(column[i], rule);
      }
    }
    for (std::size_t t = 0; t < miniapps::criteo_tables; ++t) {
      const auto column = part.places(t).subspan(from, count);
      for (std::size_t i = 0; i < count; ++i) {
        records[i].categories[t] = static_cast<std::int32_t>(rows[t][column[i]]);
      }
    }
  }
}

void encode_dense(const PartFile& part, std::size_t features, DenseRule rule, Extent extent, std::span<float> out) {
  const auto value = [rule](std::int32_t number) {
    return rule == DenseRule::given ? std::bit_cast<float>(number) : miniapps::log_of_count(before_log(number, rule));
  };
  for (std::size_t j = 0; j < features; ++j) {
    const auto column = part.dense(j).subspan(extent.begin, extent.size());
    for (std::size_t i = 0; i < column.size(); ++i) {
      out[i * features + j] = value(column[i]);
    }
  }
}

void encode_indices(std::span<const std::uint32_t> places, const std::vector<std::uint32_t>& rows,
                    std::span<std::int32_t> out) {
  std::ranges::transform(places, out.begin(),
                         [&](std::uint32_t place) { return static_cast<std::int32_t>(rows[place]); });
}

void encode_offsets(std::span<const std::uint32_t> lengths, std::uint64_t first, std::span<std::int64_t> out) {
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    first += lengths[i];
    out[i] = static_cast<std::int64_t>(first);
  }
}

}  // namespace

std::int32_t before_log(std::int32_t value, DenseRule rule) {
  if (rule == DenseRule::log1p) {
    return std::max(value, 0);
  }
  constexpr std::int32_t largest = 0x7fffffff - 2;
  return std::clamp(value, -2, largest) + 2;
}

OutputWriter::OutputWriter(const Communicator& comm, const OutputLayout& layout, const OutputShape& shape,
                           const Catalog& catalog)
    : layout_(layout), shape_(shape), first_samples_(catalog.first_samples()), part_files_(catalog.files) {
  for (std::size_t t = 0; t < shape.hotness.size(); ++t) {
    first_lookups_.push_back(catalog.before(&PartFacts::lookups, t));
  }
  const auto open = [&](DraftFile::Role role) {
    for (const OutputFile& file : layout.files) {
      drafts_.push_back(std::make_unique<DraftFile>(layout.folder / file.facts.name, role));
    }
  };
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      std::filesystem::create_directories(layout.folder.empty() ? "." : layout.folder);
      open(DraftFile::Role::creator);
    }
  });
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() != 0) {
      open(DraftFile::Role::writer);
    }
  });
}

void OutputWriter::write(const PartFile& part, std::size_t number, const Rows& rows) {
  const std::uint64_t begin = first_samples_[number];
  const std::uint64_t end = first_samples_[number + 1];
  for (std::size_t f = 0; f < layout_.files.size(); ++f) {
    const OutputFile& file = layout_.files[f];
    if (begin < file.first_sample + file.facts.samples && end > file.first_sample) {
      for (std::size_t r = 0; r < file.runs.size(); ++r) {
        write_rows(f, r, number, part, rows);
      }
    }
  }
}

void OutputWriter::write_rows(std::size_t f, std::size_t r, std::size_t number, const PartFile& part,
                              const Rows& rows) {
  const OutputFile& file = layout_.files[f];
  const RowRun& run = file.runs[r];
  const std::uint64_t first = std::max(first_samples_[number], file.first_sample);
  const std::uint64_t end = std::min(first_samples_[number + 1], file.first_sample + file.facts.samples);
  const Extent extent{static_cast<std::size_t>(first - first_samples_[number]),
                      static_cast<std::size_t>(end - first_samples_[number])};
  std::uint64_t offset = run.offset + (first - file.first_sample) * run.row_bytes;
  // Parts of ragged tables lie within one day.
  const auto day_begin = std::ranges::lower_bound(part_files_, part_files_[number]) - part_files_.begin();
  const std::uint64_t lookups =
      first_lookups_[run.table][number] - first_lookups_[run.table][static_cast<std::size_t>(day_begin)];
  switch (run.kind) {
    case RowKind::records:
      encode_records(part, rows, shape_.dense_rule, extent, room<CriteoRecord>(buffer_, extent.size()));
      break;
    case RowKind::dense:
      encode_dense(part, shape_.dense_features, shape_.dense_rule, extent,
                   room<float>(buffer_, extent.size() * shape_.dense_features));
      break;
    case RowKind::labels:
      std::ranges::copy(part.labels().subspan(extent.begin, extent.size()),
                        room<std::int32_t>(buffer_, extent.size()).begin());
      break;
    case RowKind::indices: {
      const std::size_t hotness = run.row_bytes / 4;
      const auto all = part.places(run.table);
      const auto places = hotness == 0 ? all : all.subspan(extent.begin * hotness, extent.size() * hotness);
      encode_indices(places, rows[run.table], room<std::int32_t>(buffer_, places.size()));
      offset += hotness == 0 ? 4 * lookups : 0;
      break;
    }
    case RowKind::offsets:
      encode_offsets(part.lengths(run.table), lookups, room<std::int64_t>(buffer_, extent.size()));
      break;
  }
  drafts_[f]->write(offset, buffer_);
  segments_.insert(segments_.end(), {f, r, number, crc_of(buffer_), buffer_.size()});
}

miniapps::SidecarFile OutputWriter::finish_file(std::size_t f, const std::vector<std::uint32_t>& crcs) {
  const OutputFile& file = layout_.files[f];
  miniapps::SidecarFile facts = file.facts;
  std::vector<miniapps::ZipMember> members;
  const auto put = [&](std::uint64_t offset, const std::string& text) {
    drafts_[f]->write(offset, bytes_of(text));
    facts.crc32 = crc_of(bytes_of(text), facts.crc32);
    facts.bytes += text.size();
  };
  for (std::size_t r = 0; r < file.runs.size(); ++r) {
    const RowRun& run = file.runs[r];
    if (!run.member.empty()) {
      members.push_back({run.member, run.header.size() + run.bytes,
                         joined(crc_of(bytes_of(run.header)), crcs[r], run.bytes), facts.bytes});
      put(facts.bytes, zip_local_header(members.back()));
    }
    put(facts.bytes, run.header);
    facts.crc32 = joined(facts.crc32, crcs[r], run.bytes);
    facts.bytes += run.bytes;
  }
  if (!members.empty()) {
    put(facts.bytes, zip_directory(members, facts.bytes));
  }
  return facts;
}

std::vector<miniapps::SidecarFile> OutputWriter::finish(const Communicator& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::size_t> counts(ranks);
  std::vector<std::size_t> places(ranks);
  const std::size_t count = segments_.size();
  allgather(comm, ConstBuffer(&count, 1), counts);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), std::size_t{0});
  std::vector<std::uint64_t> all(places.back() + counts.back());
  allgatherv(comm, segments_, all, counts, places);
  std::vector<miniapps::SidecarFile> facts;
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() != 0) {
      return;
    }
    using Segment = std::array<std::uint64_t, 5>;
    std::vector<Segment> segments(all.size() / 5);
    std::memcpy(segments.data(), all.data(), all.size() * sizeof(std::uint64_t));
    std::ranges::sort(segments);
    std::vector<std::vector<std::uint32_t>> crcs;
    for (const OutputFile& file : layout_.files) {
      crcs.emplace_back(file.runs.size());
    }
    for (const auto& [file, run, part, crc, bytes] : segments) {
      crcs[file][run] = joined(crcs[file][run], static_cast<std::uint32_t>(crc), bytes);
    }
    for (std::size_t f = 0; f < drafts_.size(); ++f) {
      facts.push_back(finish_file(f, crcs[f]));
    }
    std::error_code ignored;
    std::filesystem::remove(layout_.sidecar, ignored);  // the one of the files that are replaced now
    for (const auto& draft : drafts_) {
      draft->commit(true);
    }
  });
  return facts;
}

}  // namespace tutti::data
