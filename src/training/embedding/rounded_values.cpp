// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/rounded_values.hpp"

#include <tutti/kernels/device.hpp>

namespace tutti::detail {

void RoundedValues::resize(std::size_t values) {
  const Datatype type(facts_->options.exchange_type);
  if (type.kind() != DatatypeKind::float32) memory_.resize(values * type.size(), facts_->options.memory);
}

void RoundedValues::resize_registered(const Communicator& comm, std::size_t values) {
  const Datatype type(facts_->options.exchange_type);
  if (type.kind() != DatatypeKind::float32) memory_.resize_registered(comm, values * type.size());
}

void RoundedValues::take(const float* from, std::size_t count) {
  const DatatypeKind type = facts_->options.exchange_type;
  if (facts_->on_device()) {
    return kernels::device::convert(DatatypeKind::float32, from, type, data(), count, facts_->options.stream);
  }
  if (type == DatatypeKind::bfloat16) return kernels::narrow(from, static_cast<bfloat16_t*>(data()), count);
  kernels::narrow(from, static_cast<float16_t*>(data()), count);
}

void RoundedValues::give(float* to, std::size_t count) const {
  const DatatypeKind type = facts_->options.exchange_type;
  if (facts_->on_device()) {
    return kernels::device::convert(type, data(), DatatypeKind::float32, to, count, facts_->options.stream);
  }
  if (type == DatatypeKind::bfloat16) return kernels::widen(static_cast<const bfloat16_t*>(data()), to, count);
  kernels::widen(static_cast<const float16_t*>(data()), to, count);
}

}  // namespace tutti::detail
