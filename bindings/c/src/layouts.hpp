// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti.h>

#include <memory>
#include <tutti/buffer.hpp>

namespace tutti::c {

/// The meaning of a handle of a derived datatype.
struct Derived {
  Datatype element;
  Layout send;
  Layout recv;
  bool has_sides = false;  ///< made by tutti_datatype_sides
};

/// Returns null for a datatype that is not derived; throws if it was freed or never made.
[[nodiscard]] std::shared_ptr<const Derived> derived(tutti_datatype_t type, const char* argument);

}  // namespace tutti::c
