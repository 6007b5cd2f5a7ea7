// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>
#include <string>
#include <tutti/kernels/embedding_rows.hpp>

#include "device_memory.hpp"

/// Tables and a batch, on the host and the same on the device.
namespace device_test {

struct BatchSettings {
  std::vector<DatatypeKind> types{DatatypeKind::float32, DatatypeKind::float32, DatatypeKind::float32};
  std::vector<std::int64_t> rows{40, 3, 1000};
  std::size_t dim = 16;
  std::size_t padding = 0;  ///< of rows and pooled vectors; 0 lets lanes read 16 bytes
  std::size_t bags = 37;
  int longest_bag = 6;
  IndexType index_type = IndexType::int64;
  bool weighted = false;
  bool stray_indices = false;
};

struct Side {
  std::vector<EmbeddingTable> tables;
  std::vector<TableLookups> lookups;
  std::vector<Pooled<float>> outputs;
  std::vector<Pooled<const float>> gradients;
  std::vector<float*> states;
};

class EmbeddingBatch {
 public:
  EmbeddingBatch(standin::Runtime& runtime, const BatchSettings& settings, RowOptimizer optimizer = RowOptimizer::sgd)
      : s(settings), generator_(7), runtime_(runtime) {
    make_lookups();
    const std::size_t stride = s.dim + s.padding;
    pooled_values = s.types.size() * s.bags * stride;
    output.assign(pooled_values, -1.0F);
    gradient.resize(pooled_values);
    for (auto& g : gradient) g = random_value();
    for (std::size_t t = 0; t < s.types.size(); ++t) make_table(t, optimizer);
    copy_to_device();
    for (std::size_t t = 0; t < s.types.size(); ++t) {
      const std::size_t at = t * s.bags * stride;
      host.outputs.push_back({output.data() + at, stride});
      host.gradients.push_back({gradient.data() + at, stride});
      device.outputs.push_back({device_floats[0].data() + at, stride});
      device.gradients.push_back({device_floats[1].data() + at, stride});
    }
  }

  BatchSettings s;
  Side host;
  Side device;
  std::size_t pooled_values = 0;
  std::vector<float> output;
  std::vector<float> gradient;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> indices;
  std::vector<std::int32_t> short_indices;
  std::vector<float> factors;
  std::vector<std::vector<std::byte>> weights;
  std::vector<std::vector<RowScale>> scales;
  std::vector<std::vector<float>> states;

  std::vector<Array<std::byte>> device_weights;
  std::vector<Array<RowScale>> device_scales;
  std::vector<Array<float>> device_states;
  std::vector<Array<float>> device_floats;  ///< outputs, gradients, factors
  std::vector<Array<std::int64_t>> device_longs;
  std::vector<Array<std::int32_t>> device_shorts;

  [[nodiscard]] std::string text() const {
    return (s.types.empty() ? std::string("no tables") : std::string(datatype_name(s.types[0]))) + " dim " +
           std::to_string(s.dim) + "+" + std::to_string(s.padding) + (s.weighted ? " weighted" : "") + " index " +
           std::to_string(static_cast<int>(s.index_type));
  }

  void expect_same_tables(const std::string& what) const {
    for (std::size_t t = 0; t < s.types.size(); ++t) {
      const std::string where = what + ", table " + std::to_string(t);
      expect_same_bits(device_weights[t].values(), weights[t], where);
      expect_same_bits(device_scales[t].values(), scales[t], where + " scales");
      expect_same_bits(device_states[t].values(), states[t], where + " state");
    }
  }

 private:
  float random_value() { return static_cast<float>(generator_() % 4001) / 1000.0F - 2.0F; }

  void make_lookups() {
    for (const std::int64_t rows : s.rows) {
      for (std::size_t b = 0; b < s.bags; ++b) {
        const auto length = static_cast<int>(generator_() % static_cast<unsigned>(s.longest_bag + 1));
        for (int k = 0; k < length; ++k) {
          const auto draw = static_cast<std::int64_t>(generator_());
          const bool stray = s.stray_indices && draw % 5 == 0;
          indices.push_back(stray ? (draw % 2 == 0 ? -1 - draw % 7 : rows + draw % 9) : draw % rows);
          factors.push_back(random_value());
        }
        offsets.push_back(static_cast<std::int64_t>(indices.size()));
      }
    }
    short_indices.assign(indices.begin(), indices.end());
  }

  void make_table(std::size_t t, RowOptimizer optimizer) {
    const auto rows = static_cast<std::size_t>(s.rows[t]);
    const std::size_t stride = s.dim + s.padding;
    weights.emplace_back(rows * stride * Datatype(s.types[t]).size());
    scales.emplace_back(s.types[t] == DatatypeKind::uint8 ? rows : 0);
    states.emplace_back(rows * row_state_values(optimizer, s.dim));
    for (auto& x : states.back()) x = static_cast<float>(generator_() % 100) / 50.0F;
    const ShardPlace place{t + 11, 100, 0, 0};
    const EmbeddingTable table{weights[t].data(), s.types[t], s.rows[t], s.dim, stride, scales[t].data(), place};
    std::vector<float> row(s.dim);
    for (std::int64_t r = 0; r < s.rows[t]; ++r) {
      for (auto& x : row) x = random_value();
      write_rows(table, {r, 1, 0, s.dim}, row.data(), s.dim);
    }
    host.tables.push_back(table);
    host.states.push_back(states[t].data());
  }

  void copy_to_device() {
    device_floats.emplace_back(runtime_, output);
    device_floats.emplace_back(runtime_, gradient);
    device_floats.emplace_back(runtime_, factors);
    device_longs.emplace_back(runtime_, offsets);
    device_longs.emplace_back(runtime_, indices);
    device_shorts.emplace_back(runtime_, short_indices);
    const bool is_short = s.index_type == IndexType::int32;
    for (std::size_t t = 0; t < s.types.size(); ++t) {
      device_weights.emplace_back(runtime_, weights[t]);
      device_scales.emplace_back(runtime_, scales[t]);
      device_states.emplace_back(runtime_, states[t]);
      EmbeddingTable table = host.tables[t];
      table.weights = device_weights[t].data();
      table.scales = device_scales[t].data();
      device.tables.push_back(table);
      device.states.push_back(device_states[t].data());
      const std::size_t first = t * s.bags;
      host.lookups.push_back({is_short ? static_cast<const void*>(short_indices.data()) : indices.data(),
                              offsets.data() + first, s.weighted ? factors.data() : nullptr});
      device.lookups.push_back({is_short ? static_cast<const void*>(device_shorts[0].data()) : device_longs[1].data(),
                                device_longs[0].data() + first, s.weighted ? device_floats[2].data() : nullptr});
    }
  }

  std::mt19937 generator_;
  standin::Runtime& runtime_;
};

inline const std::vector<DatatypeKind> row_types{DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16,
                                                 DatatypeKind::uint8};

}  // namespace device_test
