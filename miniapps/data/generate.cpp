// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "build.hpp"
#include "commands.hpp"
#include "common/agree.hpp"
#include "common/command_line/progress.hpp"
#include "common/counter_random.hpp"
#include "common/criteo_binary.hpp"
#include "common/zipf.hpp"

namespace tutti::data {

namespace {

using miniapps::CounterRandom;

/// Samples [first, end) of day `day`.
struct Piece {
  std::uint64_t day;
  std::uint64_t number;
  std::uint64_t first;
  std::uint64_t end;
  bool is_last;
};

std::vector<Piece> pieces_of(const GenerateOptions& o) {
  std::vector<Piece> pieces;
  std::uint64_t first = 0;
  for (std::uint64_t day = 0; day < o.days; ++day) {
    const std::uint64_t end = first + o.samples / o.days + (day < o.samples % o.days ? 1 : 0);
    for (std::uint64_t number = 0; first < end; ++number) {
      const std::uint64_t stop = std::min(first + o.part_samples, end);
      pieces.push_back({day, number, first, stop, stop == end});
      first = stop;
    }
  }
  return pieces;
}

/// All values are functions of the seed, the sample and the place in it.
class Generator {
 public:
  explicit Generator(const GenerateOptions& options) : o_(options) {
    for (std::size_t t = 0; t < o_.rows.size(); ++t) {
      zipf_.emplace_back(o_.rows[t], o_.zipf[t]);
    }
  }

  [[nodiscard]] Samples samples(std::uint64_t first, std::uint64_t end) const {
    Samples samples(o_.dense_features, o_.rows.size());
    std::vector<double> scores(end - first, label_bias);
    for (std::size_t t = 0; t < o_.rows.size(); ++t) {
      add_bags(samples, t, first, end, scores);
    }
    for (std::size_t j = 0; j < o_.dense_features; ++j) {
      const CounterRandom random(o_.seed, dense_streams + j);
      for (std::uint64_t s = first; s < end; ++s) {
        samples.dense[j].push_back(dense_value(random, s));
      }
    }
    const CounterRandom random(o_.seed, label_stream);
    for (std::uint64_t s = first; s < end; ++s) {
      const double chance = 1 / (1 + std::exp(-scores[s - first]));
      samples.labels.push_back(random.uniform(s) < chance ? 1 : 0);
    }
    return samples;
  }

 private:
  static constexpr std::uint64_t label_stream = 0;
  static constexpr std::uint64_t dense_streams = 1'000'000;
  static constexpr std::uint64_t length_streams = 2'000'000;
  static constexpr std::uint64_t weight_streams = 3'000'000;
  static constexpr std::uint64_t most_draws = 64;  // of one lookup
  static constexpr double label_bias = -1;
  static constexpr double label_spread = 3;

  /// Small whole numbers with a long tail, as counts are; some are missing.
  [[nodiscard]] static std::int32_t dense_value(const CounterRandom& random, std::uint64_t sample) {
    const double value = std::exp(1.5 * random.normal(sample)) - 1;
    return static_cast<std::int32_t>(std::min(value, 1e6));
  }

  /// The bags of a table, and what their rows add to the scores of the labels.
  void add_bags(Samples& samples, std::size_t t, std::uint64_t first, std::uint64_t end,
                std::vector<double>& scores) const {
    const CounterRandom draws(o_.seed, 1 + t);
    const CounterRandom lengths(o_.seed, length_streams + t);
    const CounterRandom weights(o_.seed, weight_streams + t);
    const double scale = label_spread / std::sqrt(static_cast<double>(o_.rows.size()));
    for (std::uint64_t s = first; s < end; ++s) {
      std::uint64_t length = o_.hotness[t];
      if (o_.ragged) {
        length = lengths.bits(s) % (o_.hotness[t] + 1);
        samples.lengths[t].push_back(static_cast<std::uint32_t>(length));
      }
      for (std::uint64_t k = 0; k < length; ++k) {
        std::uint64_t counter = (s * o_.hotness[t] + k) * most_draws;
        const std::uint64_t row = zipf_[t]([&] { return draws.uniform(counter++); });
        samples.ids[t].push_back(static_cast<std::uint32_t>(row));
        scores[s - first] += scale * (2 * weights.uniform(row) - 1) / static_cast<double>(length);
      }
    }
  }

  const GenerateOptions& o_;
  std::vector<miniapps::Zipf> zipf_;
};

std::string describe(const GenerateOptions& o) {
  return fmt::format("generated 1 {} {} {} {} {} {} {} {} {}\n", o.samples, o.days, o.dense_features, o.part_samples,
                     o.seed, o.ragged, fmt::join(o.rows, "-"), fmt::join(o.zipf, "-"), fmt::join(o.hotness, "-"));
}

template <typename T>
void spread(std::vector<T>& values, std::size_t tables) {
  if (values.size() == 1) {
    values.resize(tables, values[0]);
  }
}

/// One number stands for all tables.
GenerateOptions complete(GenerateOptions o) {
  const std::size_t most = std::max({o.rows.size(), o.zipf.size(), o.hotness.size()});
  const std::size_t tables = most == 1 ? miniapps::criteo_tables : most;
  spread(o.rows, tables);
  spread(o.zipf, tables);
  spread(o.hotness, tables);
  return o;
}

BuildOptions build_options(const GenerateOptions& o) {
  BuildOptions build;
  build.prefix = o.output;
  build.shape = {o.format, DenseRule::log1p, o.dense_features, o.hotness, o.ragged};
  build.rule.kind = DictionaryRule::Kind::none;
  build.given_rows = o.rows;
  return build;
}

}  // namespace

void generate(const Communicator& comm, const GenerateOptions& options) {
  const GenerateOptions o = complete(options);
  const auto pieces = pieces_of(o);
  const Workspace workspace(comm, o.output, describe(o));
  const Generator generator(o);
  command_line::Progress progress("samples", o.samples, comm.rank() == 0);
  PartWriter writer(o.rows.size());
  miniapps::run_agreed(comm, [&] {
    const auto ranks = static_cast<std::size_t>(comm.size());
    for (std::size_t i = static_cast<std::size_t>(comm.rank()); i < pieces.size(); i += ranks) {
      const auto path = workspace.part(pieces[i].day, pieces[i].number);
      if (!std::filesystem::exists(path)) {
        Samples samples = generator.samples(pieces[i].first, pieces[i].end);
        writer.write(path, samples, pieces[i].is_last);
      }
      progress.update(pieces[i].end);
    }
  });
  const BuildSummary summary = build_data(comm, build_options(o), read_catalog(comm, workspace, o.days, o.rows.size()));
  if (comm.rank() == 0) {
    workspace.remove();
    fmt::print("{}: {} training, {} test and {} validation samples of {} tables\n", o.output, summary.sidecar.train,
               summary.sidecar.test, summary.sidecar.validation, o.rows.size());
  }
}

}  // namespace tutti::data
