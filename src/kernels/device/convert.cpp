// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <tutti/kernels/device.hpp>
#include <tutti/kernels/launch.hpp>

#include "kernels/device/combine.hpp"
#include "kernels/device/words.hpp"
#include "kernels/row_value.hpp"

namespace tutti::kernels::device {

namespace {

/// Item i: eight values.
template <typename From, typename To>
struct ConvertBody {
  static constexpr std::size_t width = 8;
  const From* from;
  To* to;
  std::size_t count;
  bool wide;

  TUTTI_FUNCTION static To converted(From x) {
    if constexpr (std::is_same_v<From, To>) return x;
    return static_cast<To>(row_value(x));
  }

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const std::size_t first = i * width;
    if (!wide || first + width > count) {
      for (std::size_t k = first; k < first + width && k < count; ++k) to[k] = converted(from[k]);
      return;
    }
    From in[width];
    To out[width];
    load_pack(in, from + first);
    TUTTI_UNROLL
    for (std::size_t e = 0; e < width; ++e) out[e] = converted(in[e]);
    store_pack(to + first, out);
  }
};

template <typename From, typename To>
void launch_convert(const void* from, void* to, std::size_t count, StreamHandle stream) {
  using Body = ConvertBody<From, To>;
  launch(stream, (count + Body::width - 1) / Body::width,
         Body{static_cast<const From*>(from), static_cast<To*>(to), count, is_aligned(from) && is_aligned(to)});
}

}  // namespace

void convert(DatatypeKind from_type, const void* from, DatatypeKind to_type, void* to, std::size_t count,
             Stream stream) {
  const StreamHandle handle = handle_of(stream);
  const auto is = [&](DatatypeKind a, DatatypeKind b) { return from_type == a && to_type == b; };
  using enum DatatypeKind;
  if (is(float32, float32)) return launch_convert<float, float>(from, to, count, handle);
  if (is(float32, bfloat16)) return launch_convert<float, bfloat16_t>(from, to, count, handle);
  if (is(float32, float16)) return launch_convert<float, float16_t>(from, to, count, handle);
  if (is(bfloat16, float32)) return launch_convert<bfloat16_t, float>(from, to, count, handle);
  if (is(float16, float32)) return launch_convert<float16_t, float>(from, to, count, handle);
  if (is(bfloat16, bfloat16) || is(float16, float16)) {
    return launch_convert<bfloat16_t, bfloat16_t>(from, to, count, handle);
  }
  throw Error(ErrorCode::invalid_datatype, std::string("device::convert: from ") + datatype_name(from_type) + " to " +
                                               datatype_name(to_type) +
                                               "; one of them must be float32, the other bfloat16 or float16");
}

}  // namespace tutti::kernels::device
