// SPDX-License-Identifier: BSD-3-Clause
#include "build.hpp"

#include <zlib.h>

#include <algorithm>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/error.hpp>

#include "common/agree.hpp"
#include "common/command_line/progress.hpp"
#include "common/data/day_files.hpp"
#include "common/data/draft_file.hpp"
#include "parquet_output.hpp"

namespace tutti::data {

namespace {

using command_line::Progress;
using miniapps::DraftFile;
using miniapps::Sidecar;
using miniapps::SidecarFile;

/// The lists of a part with the keys of their ids; none for a rank that has no part in this turn.
std::vector<IdList> lists_of(const PartFile* part, std::size_t number,
                             const std::vector<std::vector<std::uint64_t>>& first_keys) {
  std::vector<IdList> lists;
  for (std::size_t t = 0; part != nullptr && t < first_keys.size(); ++t) {
    lists.push_back({part->ids(t), part->counts(t), first_keys[t][number]});
  }
  return lists;
}

std::vector<std::uint64_t> ends_of_days(const Catalog& catalog, std::uint64_t days) {
  const auto first = catalog.first_samples();
  if (days == 0) {
    std::vector<std::uint64_t> ends;
    for (std::size_t p = 0; p < catalog.files.size(); ++p) {
      ends.resize(catalog.files[p] + 1);
      ends.back() = first[p + 1];
    }
    return ends;
  }
  return miniapps::cut_in_days(first.back(), days);
}

/// Writes the ids by row, table by table, all ranks their shares. Collective.
SidecarFile write_categories(const Communicator& comm, const BuildOptions& options, const OutputLayout& layout,
                             const Dictionary& dictionary, const std::vector<miniapps::SidecarTable>& tables) {
  SidecarFile facts{
      options.shape.format == Format::binary ? options.prefix.filename().string() + ".categories" : "data.categories",
      "categories", 0, 0, 0};
  const auto path = layout.folder / facts.name;
  std::unique_ptr<DraftFile> draft;
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      draft = std::make_unique<DraftFile>(path);
    }
  });
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() != 0) {
      draft = std::make_unique<DraftFile>(path, DraftFile::Role::writer);
    }
  });
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::uint64_t> crcs(ranks * tables.size());
  std::vector<std::uint64_t> sizes(crcs.size());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const auto share = dictionary.share(comm, t, tables[t].ids);
    const auto bytes = std::as_bytes(std::span(share.ids));
    miniapps::run_agreed(comm, [&] { draft->write(facts.bytes + 4 * share.first, bytes); });
    const std::size_t mine = t * ranks + static_cast<std::size_t>(comm.rank());
    crcs[mine] = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    sizes[mine] = bytes.size();
    facts.bytes += 4 * tables[t].ids;
  }
  allreduce(comm, in_place, crcs, sum);
  allreduce(comm, in_place, sizes, sum);
  for (std::size_t i = 0; i < crcs.size(); ++i) {
    facts.crc32 = static_cast<std::uint32_t>(::crc32_combine(facts.crc32, crcs[i], static_cast<z_off_t>(sizes[i])));
  }
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      draft->commit(true);
    }
  });
  return facts;
}

Sidecar describe(const BuildOptions& options, const OutputLayout& layout) {
  Sidecar sidecar;
  const OutputShape& shape = options.shape;
  constexpr const char* names[] = {miniapps::criteo_binary_format, miniapps::criteo_npy_format,
                                   miniapps::criteo_parquet_format};
  sidecar.format = names[static_cast<std::size_t>(shape.format)];
  const auto [train, test] = miniapps::split_days(layout.day_ends);
  sidecar.train = train;
  sidecar.test = test;
  sidecar.validation = layout.day_ends.back() - train - test;
  sidecar.dense_features = shape.dense_features;
  sidecar.dense_rule = shape.dense_rule == DenseRule::given   ? "given"
                       : shape.dense_rule == DenseRule::log1p ? "log1p"
                                                              : "log3";
  sidecar.dictionary_rule = options.rule.name();
  sidecar.threshold = options.rule.threshold;
  sidecar.hash_rows = options.rule.hash_rows;
  return sidecar;
}

/// Counts all ids and gives them their rows.
std::vector<miniapps::SidecarTable> number_ids(const Communicator& comm, const BuildOptions& options,
                                               const Catalog& catalog, Dictionary& dictionary) {
  const std::size_t count = options.shape.hotness.size();
  std::vector<std::vector<std::uint64_t>> keys(count);
  std::vector<miniapps::SidecarTable> tables;
  std::vector<std::uint64_t> all_keys;
  for (std::size_t t = 0; t < count; ++t) {
    keys[t] = catalog.before(&PartFacts::ids, t);
    all_keys.push_back(keys[t].back());
  }
  Progress progress("dictionary", catalog.parts.size(), comm.rank() == 0);
  for_each_part(comm, catalog, [&](const PartFile* part, std::size_t number) {
    dictionary.add(comm, lists_of(part, number, keys), all_keys);
    progress.update(number + 1);
  });
  for (std::size_t t = 0; t < count; ++t) {
    const std::uint64_t rows = options.given_rows.empty() ? options.rule.hash_rows : options.given_rows[t];
    tables.push_back(dictionary.number(comm, t, keys[t].back(), rows));
    tables[t].lookups = catalog.before(&PartFacts::lookups, t).back();
    tables[t].hotness = options.shape.hotness[t];
    tables[t].ragged = options.shape.ragged;
  }
  return tables;
}

template <typename Writer>
std::vector<SidecarFile> write_samples(const Communicator& comm, const BuildOptions& options, const Catalog& catalog,
                                       const OutputLayout& layout, const Dictionary& dictionary) {
  Writer writer(comm, layout, options.shape, catalog);
  const std::vector<std::vector<std::uint64_t>> no_keys(options.shape.hotness.size(),
                                                        std::vector<std::uint64_t>(catalog.parts.size()));
  Progress progress("samples", catalog.samples(), comm.rank() == 0);
  const auto first = catalog.first_samples();
  for_each_part(comm, catalog, [&](const PartFile* part, std::size_t number) {
    const auto rows = dictionary.rows(comm, lists_of(part, number, no_keys));
    miniapps::run_agreed(comm, [&] {
      if (part != nullptr) {
        writer.write(*part, number, rows);
        progress.update(first[number + 1]);
      }
    });
  });
  return writer.finish(comm);
}

}  // namespace

BuildSummary build_data(const Communicator& comm, const BuildOptions& options, const Catalog& catalog) {
  if (catalog.samples() == 0) {
    throw miniapps::AgreedError(ErrorCode::io, "the inputs have no samples");
  }
  const auto layout = lay_out(options.prefix, options.shape, catalog, ends_of_days(catalog, options.days));
  Dictionary dictionary(comm, options.shape.hotness.size(), options.rule);
  BuildSummary summary{describe(options, layout), dictionary.size(), 0};
  summary.sidecar.tables = number_ids(comm, options, catalog, dictionary);
  const auto write =
      options.shape.format == Format::parquet ? write_samples<ParquetOutput> : write_samples<OutputWriter>;
  summary.sidecar.files = write(comm, options, catalog, layout, dictionary);
  using Kind = DictionaryRule::Kind;
  if (options.rule.kind == Kind::first || options.rule.kind == Kind::frequency) {
    const auto facts = write_categories(comm, options, layout, dictionary, summary.sidecar.tables);
    summary.sidecar.files.push_back(facts);
  }
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      write_sidecar(layout.sidecar, summary.sidecar);
    }
  });
  std::uint64_t sizes[] = {dictionary.size(), dictionary.bytes()};
  allreduce(comm, in_place, sizes, sum);
  summary.ids = sizes[0];
  summary.dictionary_bytes = sizes[1];
  return summary;
}

}  // namespace tutti::data
