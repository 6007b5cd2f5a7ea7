// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/kernels/device.hpp>
#include <tutti/kernels/launch.hpp>

#include "training/kernels/dense_arithmetic.hpp"
#include "training/kernels/device/row_pack.hpp"
#include "training/kernels/device/scratch.hpp"

namespace tutti::kernels::device {

namespace {

/// Item i: the values of sixteen bytes, or one.
template <typename T, DenseStep Step, std::size_t Width>
struct DenseBody {
  DenseRule<T> rule;
  T* parameters;
  const T* gradients;
  T* first;
  T* second;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    constexpr std::size_t states = dense_states(Step);
    const std::size_t at = i * Width;
    T parameter[Width];
    T gradient[Width];
    T one[Width] = {};
    T two[Width] = {};
    load_pack(parameter, parameters + at);
    load_pack(gradient, gradients + at);
    if constexpr (states > 0) load_pack(one, first + at);
    if constexpr (states > 1) load_pack(two, second + at);
    TUTTI_UNROLL
    for (std::size_t e = 0; e < Width; ++e) dense_step<Step>(rule, parameter[e], gradient[e], one[e], two[e]);
    store_pack(parameters + at, parameter);
    if constexpr (states > 0) store_pack(first + at, one);
    if constexpr (states > 1) store_pack(second + at, two);
  }
};

template <typename T>
void update_all(const DenseUpdate& update, std::uint64_t step, std::span<T> parameters, std::span<const T> gradients,
                std::span<T> state, StreamHandle stream) {
  constexpr std::size_t width = word_bytes / sizeof(T);
  const std::size_t count = parameters.size();
  check_dense_update(update, step, count, gradients.size(), state.size());
  const DenseRule<T> rule(update, step);
  T* const first = state.data();
  T* const second = state.size() > count ? state.data() + count : nullptr;
  const bool wide =
      is_aligned(parameters.data()) && is_aligned(gradients.data()) && is_aligned(first) && is_aligned(second);
  const std::size_t packs = wide ? count / width : 0;
  const std::size_t rest = packs * width;
  const auto at = [&](T* array) { return array == nullptr ? nullptr : array + rest; };
  visit_dense_step(update, [&]<DenseStep Step>(std::integral_constant<DenseStep, Step>) {
    launch(stream, packs, DenseBody<T, Step, width>{rule, parameters.data(), gradients.data(), first, second});
    launch(stream, count - rest,
           DenseBody<T, Step, 1>{rule, parameters.data() + rest, gradients.data() + rest, at(first), at(second)});
  });
}

}  // namespace

void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<float> parameters,
                  std::span<const float> gradients, std::span<float> state, Stream stream) {
  update_all(update, step, parameters, gradients, state, handle_of(stream));
}

void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<double> parameters,
                  std::span<const double> gradients, std::span<double> state, Stream stream) {
  update_all(update, step, parameters, gradients, state, handle_of(stream));
}

}  // namespace tutti::kernels::device
