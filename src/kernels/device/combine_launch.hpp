// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/error.hpp>
#include <tutti/kernels/launch.hpp>
#include <tutti/reduce_op.hpp>

#include "kernels/combine_pair_functors.hpp"
#include "kernels/device/words.hpp"

/// The functors of combine_functors.hpp on the device: one pass over any number of inputs, so that narrow floats are
/// rounded once.
namespace tutti::kernels::device {

/// Number of addresses that fit into the arguments of a kernel. More inputs must lie at equal distances, all but one.
inline constexpr std::size_t listed_inputs = 40;

class CombineInputs {
 public:
  explicit CombineInputs(std::span<const void* const> inputs);
  [[nodiscard]] TUTTI_FUNCTION std::size_t size() const { return size_; }
  [[nodiscard]] TUTTI_FUNCTION const void* operator[](std::size_t k) const {
    if (size_ <= listed_inputs) return list_[k];
    return k == other_at_ ? other_ : first_ + static_cast<std::ptrdiff_t>(k) * distance_;
  }
  [[nodiscard]] bool aligned() const;

 private:
  std::size_t size_;
  const void* list_[listed_inputs] = {};
  const char* first_ = nullptr;
  std::ptrdiff_t distance_ = 0;
  const void* other_ = nullptr;
  std::size_t other_at_ = 0;
};

/// Item i combines the elements of sixteen bytes. All inputs are read before the output is written, so it may be one of
/// them.
template <typename Functor>
struct CombineBody {
  using Value = typename Functor::Value;
  using Acc = typename Functor::Acc;
  static constexpr std::size_t width = Pack<Value>::size;
  Functor functor;
  CombineInputs inputs;
  Value* output;
  std::size_t count;
  bool wide;  ///< all addresses are multiples of 16

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const std::size_t first = i * width;
    if (wide && first + width <= count) {
      combine_pack(first);
    } else {
      for (std::size_t k = first; k < first + width && k < count; ++k) combine_one(k);
    }
  }

  TUTTI_FUNCTION void combine_one(std::size_t at) const {
    Acc acc = functor.load(static_cast<const Value*>(inputs[0])[at]);
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      acc = functor.join(acc, functor.load(static_cast<const Value*>(inputs[k])[at]));
    }
    store(functor, output + at, acc);
  }

  TUTTI_FUNCTION void combine_pack(std::size_t first) const {
    Acc acc[width];
    const auto load = [&](std::size_t k) {
      return __builtin_bit_cast(Pack<Value>, load_words(static_cast<const Value*>(inputs[k]) + first));
    };
    const Pack<Value> start = load(0);
    for (std::size_t e = 0; e < width; ++e) acc[e] = functor.load(start.value[e]);
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      const Pack<Value> next = load(k);
      for (std::size_t e = 0; e < width; ++e) acc[e] = functor.join(acc[e], functor.load(next.value[e]));
    }
    Pack<Value> result;
    for (std::size_t e = 0; e < width; ++e) store(functor, result.value + e, acc[e]);
    store_words(output + first, __builtin_bit_cast(Words, result));
  }
};

template <typename Functor>
void launch_combine(StreamHandle stream, const Functor& functor, std::span<const void* const> inputs, void* output,
                    std::size_t count) {
  using Body = CombineBody<Functor>;
  const CombineInputs all(inputs);
  const Body body{functor, all, static_cast<typename Functor::Value*>(output), count,
                  all.aligned() && is_aligned(output)};
  launch(stream, (count + Body::width - 1) / Body::width, body);
}

/// One function per family of types, each in a translation unit of its own; false if the operation is not defined.
struct CombineJob {
  DatatypeKind type;
  ReduceKind op;
  std::span<const void* const> inputs;
  void* output;
  std::size_t count;
  StreamHandle stream;
};
bool combine_integers(const CombineJob& job);  ///< and logicals
bool combine_floats(const CombineJob& job);    ///< and complex numbers
bool combine_pairs(const CombineJob& job);

}  // namespace tutti::kernels::device
