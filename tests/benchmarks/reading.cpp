// SPDX-License-Identifier: BSD-3-Clause
// How fast a rank reads binary files of Criteo's records, and Parquet of the same samples: samples of the global batch
// a second of processor time, alone and as one of four ranks, in the orders of --data-randomize. The binary file is 640
// MB, in the temporary directory.
#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "common/counter_random.hpp"
#include "common/criteo_binary.hpp"
#include "common/data/draft_file.hpp"
#include "common/parquet_source.hpp"

namespace {

using namespace tutti::miniapps;

constexpr std::size_t samples = 4000000;
constexpr std::size_t batch_size = 8192;
constexpr std::uint64_t rows = 1000000;

CriteoRecord make_record(const CounterRandom& random, std::uint64_t i) {
  CriteoRecord record{static_cast<std::int32_t>(random.bits(40 * i) & 1U), {}, {}};
  for (std::size_t j = 0; j < criteo_dense; ++j)
    record.dense[j] = static_cast<std::int32_t>(std::exp2(15 * random.uniform(40 * i + 1 + j))) - 1;
  for (std::size_t t = 0; t < criteo_tables; ++t)
    record.categories[t] = static_cast<std::int32_t>(random.bits(40 * i + 14 + t) % rows);
  return record;
}

void write(const std::filesystem::path& path, std::size_t count) {
  CriteoRecordWriter writer(path);
  const CounterRandom random(1, count);
  for (std::uint64_t i = 0; i < count; ++i) writer.append(make_record(random, i));
  writer.close();
}

/// Half of the samples of the binary file, all for training but the last day.
constexpr std::size_t parquet_samples = samples / 2;
constexpr std::size_t parquet_files = 8;

void write_parquet(const std::filesystem::path& path, std::size_t file) {
  const CounterRandom random(1, samples);
  ParquetSamples part;
  part.counts.resize(criteo_dense);
  part.tables.resize(criteo_tables);
  for (std::uint64_t i = 0; i < parquet_samples / parquet_files; ++i) {
    const CriteoRecord record = make_record(random, file * (parquet_samples / parquet_files) + i);
    part.labels.push_back(record.label);
    for (std::size_t j = 0; j < criteo_dense; ++j) part.counts[j].push_back(record.dense[j]);
    for (std::size_t t = 0; t < criteo_tables; ++t) part.tables[t].indices.push_back(record.categories[t]);
  }
  const std::string content = encode_parquet(part);
  DraftFile draft(path);
  draft.append(std::as_bytes(std::span(content)));
  draft.commit(false);
}

/// Written by the first measurement, removed at the end.
const std::filesystem::path& parquet_folder() {
  static const struct Folder {
    Folder() {
      std::filesystem::create_directories(path);
      for (std::size_t i = 0; i < parquet_files; ++i) write_parquet(path / (std::to_string(i) + ".parquet"), i);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path path = std::filesystem::temp_directory_path() / "tutti-reading-parquet";
  } all;
  return all.path;
}

/// Written by the first measurement, removed at the end.
const std::filesystem::path& files() {
  static const struct Files {
    Files() {
      write(prefix.string() + "_train.bin", samples);
      write(prefix.string() + "_test.bin", 1);
    }
    ~Files() {
      for (const auto& path : criteo_binary_files(prefix)) std::filesystem::remove(path);
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    std::filesystem::path prefix = std::filesystem::temp_directory_path() / "tutti-reading";
  } all;
  return all.prefix;
}

void read_all(benchmark::State& state, DataSource& source) {
  const auto ranks = static_cast<std::size_t>(state.range(0));
  std::vector<std::size_t> tables(criteo_tables);
  std::iota(tables.begin(), tables.end(), std::size_t{0});
  Batch batch;
  std::uint64_t epoch = 0;
  for (auto _ : state) {
    source.begin_epoch(epoch++);
    for (std::uint64_t k = 0; k < source.batches(Split::train, batch_size); ++k) {
      const std::size_t count = source.batch_count(Split::train, batch_size, k);
      source.read(Split::train, batch_size, k, {{0, count / ranks}, tables, BagSamples::own}, batch);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(source.samples(Split::train)));
}

void read_epochs(benchmark::State& state) {
  const auto shuffle = static_cast<Shuffle>(state.range(1));
  CriteoBinary source({.prefix = files(), .shuffle = shuffle, .rows = std::vector<std::uint64_t>(criteo_tables, rows)});
  read_all(state, source);
}

void read_parquet(benchmark::State& state) {
  if (!has_parquet()) return state.SkipWithError(parquet_remedy);
  const auto shuffle = static_cast<Shuffle>(state.range(1));
  ParquetSource source(
      {.path = parquet_folder(), .shuffle = shuffle, .rows = std::vector<std::uint64_t>(criteo_tables, rows)});
  read_all(state, source);
}

}  // namespace

BENCHMARK(read_epochs)
    ->ArgNames({"ranks", "order"})
    ->ArgsProduct({{1, 4},
                   {static_cast<long>(Shuffle::none), static_cast<long>(Shuffle::total),
                    static_cast<long>(Shuffle::epoch), static_cast<long>(Shuffle::batches)}})
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(read_parquet)
    ->ArgNames({"ranks", "order"})
    ->ArgsProduct({{1, 4}, {static_cast<long>(Shuffle::none), static_cast<long>(Shuffle::interleaved)}})
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
