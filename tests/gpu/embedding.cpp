// SPDX-License-Identifier: BSD-3-Clause
// Lookups, their backward fused with the update, and the interaction on the device give the numbers of the host.
#include <algorithm>
#include <cmath>
#include <random>
#include <tutti/kernels/device.hpp>
#include <tutti/kernels/embedding_rows.hpp>

#include "gpu/arrays.hpp"
#include "gpu/machine.hpp"

namespace tutti::test::gpu {
namespace {

using namespace tutti::kernels;
using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;

class Embedding : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    if (!kernels::device::is_available() && !is_standin())
      GTEST_SKIP() << "skipped: no device kernels: this build had no nvcc";
  }
};

struct Sizes {
  std::size_t tables = 3;
  std::int64_t rows = 1009;
  std::size_t dim = 128;
  std::size_t bags = 257;
  DatatypeKind type = DatatypeKind::float32;
  RowOptimizer optimizer = RowOptimizer::sgd;
};

Floats random_floats(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  Floats values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

/// Tables, lookups and gradients in host memory.
struct Problem {
  explicit Problem(const Sizes& s) : sizes(s) {
    std::mt19937 generator(11);
    std::uniform_int_distribution<std::int64_t> any_row(0, s.rows - 1);
    std::uniform_int_distribution<std::int64_t> length(0, 40);
    for (std::size_t bag = 0; bag < s.tables * s.bags; ++bag) {
      offsets.push_back(static_cast<std::int64_t>(indices.size()));
      // Many rows occur often.
      for (std::int64_t i = length(generator); i > 0; --i)
        indices.push_back(i % 3 == 0 ? any_row(generator) % 5 : any_row(generator));
    }
    offsets.push_back(static_cast<std::int64_t>(indices.size()));
    const std::size_t values = static_cast<std::size_t>(s.rows) * s.dim;
    for (std::size_t t = 0; t < s.tables; ++t) {
      weights.emplace_back(values * Datatype(s.type).size());
      scales.emplace_back(static_cast<std::size_t>(s.rows));
      states.emplace_back(static_cast<std::size_t>(s.rows) * row_state_values(s.optimizer, s.dim));
      const EmbeddingTable whole = table(weights[t].data(), scales[t].data(), t);
      write_rows(whole, {0, s.rows, 0, s.dim}, random_floats(values, static_cast<unsigned>(t)).data(), s.dim);
    }
    gradients = random_floats(s.tables * s.bags * s.dim, 99);
    pooled.assign(gradients.size(), 0.0F);
  }

  [[nodiscard]] EmbeddingTable table(void* data, RowScale* scale, std::size_t t) const {
    EmbeddingTable made{data, sizes.type, sizes.rows, sizes.dim, sizes.dim};
    if (sizes.type == DatatypeKind::uint8) made.scales = scale;
    made.place.table = t;
    return made;
  }

  Sizes sizes;
  std::vector<std::int64_t> indices, offsets;
  std::vector<Bytes> weights;
  std::vector<std::vector<RowScale>> scales;
  std::vector<Floats> states;
  Floats gradients, pooled;
};

/// What a call takes: addresses of one memory.
struct Views {
  std::vector<EmbeddingTable> tables;
  std::vector<TableLookups> lookups;
  std::vector<Pooled<float>> outputs;
  std::vector<Pooled<const float>> gradients;
  std::vector<float*> states;

  void add(const Problem& p, std::size_t t, void* weights, RowScale* scales, const std::int64_t* indices,
           const std::int64_t* offsets, float* pooled, const float* gradient, float* state) {
    const std::size_t stride = p.sizes.tables * p.sizes.dim;
    tables.push_back(p.table(weights, scales, t));
    lookups.push_back({indices, offsets + t * p.sizes.bags, nullptr});
    outputs.push_back({pooled + t * p.sizes.dim, stride});
    gradients.push_back({gradient + t * p.sizes.dim, stride});
    states.push_back(state);
  }
};

void run_on_host(Problem& p, const RowUpdate& update) {
  Views v;
  for (std::size_t t = 0; t < p.sizes.tables; ++t)
    v.add(p, t, p.weights[t].data(), p.scales[t].data(), p.indices.data(), p.offsets.data(), p.pooled.data(),
          p.gradients.data(), p.states[t].data());
  EmbeddingWorkspace workspace;
  embedding_bag_forward(v.tables, v.lookups, IndexType::int64, p.sizes.bags, v.outputs);
  embedding_bag_backward(v.tables, v.lookups, IndexType::int64, p.sizes.bags, v.gradients, v.states, update, {},
                         workspace);
}

/// The same from the same begin; the results replace what `p` holds.
void run_on_device(Problem& p, const RowUpdate& update) {
  const DeviceArray<std::int64_t> indices(p.indices);
  const DeviceArray<std::int64_t> offsets(p.offsets);
  const DeviceArray<float> pooled(p.pooled);
  const DeviceArray<float> gradients(p.gradients);
  std::vector<DeviceArray<std::byte>> weights;
  std::vector<DeviceArray<RowScale>> scales;
  std::vector<DeviceArray<float>> states;
  Views v;
  for (std::size_t t = 0; t < p.sizes.tables; ++t) {
    weights.emplace_back(p.weights[t]);
    scales.emplace_back(p.scales[t]);
    states.emplace_back(p.states[t]);
    v.add(p, t, weights[t].data(), scales[t].data(), indices.data(), offsets.data(), pooled.data(), gradients.data(),
          states[t].data());
  }
  const DeviceArray<kernels::device::IndexStatus> status({kernels::device::IndexStatus{}});
  const DeviceStream stream;
  kernels::device::Workspace workspace;
  kernels::device::embedding_bag_forward(v.tables, v.lookups, IndexType::int64, p.sizes.bags, v.outputs, {},
                                         status.data(), workspace, stream.stream());
  kernels::device::embedding_bag_backward(v.tables, v.lookups, IndexType::int64, p.sizes.bags, p.indices.size(),
                                          v.gradients, v.states, update, {}, status.data(), workspace, stream.stream());
  stream.wait();
  EXPECT_EQ(status.read()[0].outside, 0U);
  p.pooled = pooled.read();
  for (std::size_t t = 0; t < p.sizes.tables; ++t) {
    p.weights[t] = weights[t].read();
    p.scales[t] = scales[t].read();
    p.states[t] = states[t].read();
  }
}

void expect_same(const Sizes& sizes) {
  Problem host(sizes);
  Problem device(sizes);
  for (std::uint64_t step = 1; step <= 2; ++step) {
    RowUpdate update;
    update.optimizer = sizes.optimizer;
    update.step = step;
    run_on_host(host, update);
    run_on_device(device, update);
    const std::string what = std::string(datatype_name(sizes.type)) + " rows of " + std::to_string(sizes.dim) +
                             ", optimizer " + std::to_string(static_cast<int>(sizes.optimizer)) + ", step " +
                             std::to_string(step);
    EXPECT_EQ(host.pooled, device.pooled) << what;
    EXPECT_TRUE(host.weights == device.weights) << what;
    EXPECT_TRUE(host.states == device.states) << what;
  }
}

TEST_F(Embedding, ForwardAndUpdateOfEveryKindOfRows) {
  for (const DatatypeKind type :
       {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16, DatatypeKind::uint8})
    for (const std::size_t dim : {std::size_t{4}, std::size_t{17}, std::size_t{64}, std::size_t{128}}) {
      Sizes sizes;
      sizes.type = type;
      sizes.dim = dim;
      expect_same(sizes);
    }
}

TEST_F(Embedding, EveryOptimizer) {
  for (const RowOptimizer optimizer :
       {RowOptimizer::sgd, RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad, RowOptimizer::adam}) {
    Sizes sizes;
    sizes.optimizer = optimizer;
    expect_same(sizes);
  }
}

TEST_F(Embedding, AnIndexOutsideIsFoundAndChangesNothing) {
  Sizes sizes;
  Problem p(sizes);
  p.indices[p.indices.size() / 2] = sizes.rows + 3;
  const DeviceArray<std::int64_t> indices(p.indices);
  const DeviceArray<std::int64_t> offsets(p.offsets);
  const DeviceArray<kernels::device::IndexStatus> status({kernels::device::IndexStatus{}});
  Views v;
  for (std::size_t t = 0; t < sizes.tables; ++t)
    v.add(p, t, nullptr, nullptr, indices.data(), offsets.data(), nullptr, nullptr, nullptr);
  const DeviceStream stream;
  kernels::device::Workspace workspace;
  kernels::device::check_indices(v.tables, v.lookups, IndexType::int64, sizes.bags, status.data(), workspace,
                                 stream.stream());
  stream.wait();
  const auto found = status.read()[0];
  EXPECT_EQ(found.outside, 1U);
  EXPECT_EQ(found.index, sizes.rows + 3);
  EXPECT_EQ(found.rows, sizes.rows);
}

/// Products and sums of the interaction may be fused, on one side in another way than on the other.
void expect_near(const Floats& got, const Floats& want) {
  ASSERT_EQ(got.size(), want.size());
  float worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - want[i]));
  EXPECT_LT(worst, 1e-4F);
}

TEST_F(Embedding, Interaction) {
  const DotInteraction shape{27, 128};
  constexpr std::size_t samples = 65;
  const Floats features = random_floats(shape.features * samples * shape.dim, 5);
  const Floats output_gradient = random_floats(samples * shape.width(), 6);
  Floats output(output_gradient.size());
  Floats input_gradients(features.size());
  const auto views = [&](auto* base) {
    std::vector<Pooled<std::remove_pointer_t<decltype(base)>>> all;
    for (std::size_t f = 0; f < shape.features; ++f) all.push_back({base + f * shape.dim, shape.features * shape.dim});
    return all;
  };
  dot_interaction_forward(shape, samples, views(features.data()), output.data(), shape.width());
  dot_interaction_backward(shape, samples, views(features.data()), output_gradient.data(), shape.width(),
                           views(input_gradients.data()));
  const DeviceArray<float> in(features);
  const DeviceArray<float> out(Floats(output.size(), 0.0F));
  const DeviceArray<float> out_gradient(output_gradient);
  const DeviceArray<float> in_gradients(Floats(features.size(), 0.0F));
  const DeviceStream stream;
  kernels::device::Workspace workspace;
  const float* in_data = in.data();
  kernels::device::dot_interaction_forward(shape, samples, views(in_data), out.data(), shape.width(), workspace,
                                           stream.stream());
  kernels::device::dot_interaction_backward(shape, samples, views(in_data), out_gradient.data(), shape.width(),
                                            views(in_gradients.data()), workspace, stream.stream());
  stream.wait();
  expect_near(out.read(), output);
  expect_near(in_gradients.read(), input_gradients);
}

}  // namespace
}  // namespace tutti::test::gpu
