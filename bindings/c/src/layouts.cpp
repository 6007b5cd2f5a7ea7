// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes. The handle has a number of its own in its low byte, and an index that is never reused above.

#include <fmt/format.h>

#include <span>

#include "guard.hpp"
#include "handles.hpp"

namespace tutti::c {
namespace {

constexpr int index_shift = 8;
constexpr tutti_datatype_t derived_number = 255;

/// Never destroyed: datatypes may be freed after the statics of this file.
NumberTable<Derived>& derived_table() {
  static auto* table =
      new NumberTable<Derived>((1 << index_shift) | derived_number, tutti_datatype_t{1} << index_shift);
  return *table;
}

bool is_derived(tutti_datatype_t type) noexcept { return type > 0 && (type & derived_number) == derived_number; }

/// A datatype that describes both sides alike.
Derived one_layout(tutti_datatype_t type, const char* name) {
  if (const auto found = derived(type, name)) {
    if (found->has_sides)
      throw_misuse(ErrorCode::invalid_datatype,
                   fmt::format("argument {} was made by tutti_datatype_sides; pass the datatype of one side", name));
    return *found;
  }
  const Layout single = Layout::vector(1, 1, 1);
  return {datatype(type, name), single, single};
}

/// Repetitions of a layout in a buffer: `count`, or as many as `count` elements need if the sides differ.
std::size_t repetitions(const Derived& type, const Layout& layout, std::size_t count) {
  if (!type.has_sides || count == 0) return count;
  if (layout.elements() == 0 || count % layout.elements() != 0)
    throw_misuse(ErrorCode::invalid_argument,
                 fmt::format("argument count gives {} elements, which are no multiple of the {} elements of a side of "
                             "argument datatype; pass a multiple",
                             count, layout.elements()));
  return count / layout.elements();
}

void give_derived(tutti_datatype_t* place, const Derived& made) {
  output(place, "datatype") = derived_table().insert(made);
}

/// Numbers of an array, one per dimension.
template <typename T>
std::span<const T> numbers(std::size_t dimensions, const T* first, const char* name) {
  if (dimensions > 0 && first == nullptr) throw_null(name, "pass one number for each dimension");
  return {first, dimensions};
}

}  // namespace

std::shared_ptr<const Derived> derived(tutti_datatype_t type, const char* argument) {
  if (!is_derived(type)) return nullptr;
  auto found = derived_table().find(type);
  if (!found)
    throw_misuse(
        ErrorCode::invalid_datatype,
        fmt::format(
            "argument {} is {}, a derived datatype that was freed or never made; pass one that "
            "tutti_datatype_vector, _subarray, _strided, _resized or _sides made, and free it after its last call",
            argument, type));
  return found;
}

ConstBuffer sent_derived(const void* address, std::size_t count, tutti_datatype_t type, const char* argument) {
  if (!is_derived(type)) return {address, count, datatype(type, argument)};
  const auto found = derived(type, argument);
  return {address, repetitions(*found, found->send, count), found->element, found->send};
}

Buffer received_derived(void* address, std::size_t count, tutti_datatype_t type, const char* argument) {
  if (!is_derived(type)) return {address, count, datatype(type, argument)};
  const auto found = derived(type, argument);
  return {address, repetitions(*found, found->recv, count), found->element, found->recv};
}

}  // namespace tutti::c

using namespace tutti::c;
using tutti::Layout;

namespace {

/// Makes a datatype of a layout of elements that are not derived themselves.
template <typename Make>
int make_derived(tutti_datatype_t* place, tutti_datatype_t element, const Make& make) {
  return guard([&] {
    output(place, "datatype") = TUTTI_DATATYPE_NULL;
    const tutti::Datatype type = datatype(element, "element");
    const Layout layout = make();
    give_derived(place, {type, layout, layout});
  });
}

}  // namespace

int tutti_datatype_vector(size_t count, size_t block_length, ptrdiff_t stride, tutti_datatype_t element,
                          tutti_datatype_t* datatype) {
  return make_derived(datatype, element, [&] { return Layout::vector(count, block_length, stride); });
}

int tutti_datatype_subarray(size_t dimensions, const size_t* sizes, const size_t* subsizes, const size_t* starts,
                            int order, tutti_datatype_t element, tutti_datatype_t* datatype) {
  return make_derived(datatype, element, [&] {
    if (order != TUTTI_ORDER_C && order != TUTTI_ORDER_FORTRAN)
      throw_misuse(tutti::ErrorCode::invalid_argument,
                   fmt::format("argument order is {}; pass TUTTI_ORDER_C or TUTTI_ORDER_FORTRAN", order));
    return Layout::subarray(numbers(dimensions, sizes, "sizes"), numbers(dimensions, subsizes, "subsizes"),
                            numbers(dimensions, starts, "starts"), static_cast<tutti::ArrayOrder>(order));
  });
}

int tutti_datatype_strided(size_t dimensions, const size_t* extents, const ptrdiff_t* strides, tutti_datatype_t element,
                           tutti_datatype_t* datatype) {
  return make_derived(datatype, element, [&] {
    return Layout::strided(numbers(dimensions, extents, "extents"), numbers(dimensions, strides, "strides"));
  });
}

int tutti_datatype_resized(tutti_datatype_t datatype, ptrdiff_t extent, tutti_datatype_t* resized) {
  return guard([&] {
    Derived type = one_layout(datatype, "datatype");
    type.send = type.recv = type.send.resized(extent);
    output(resized, "resized") = derived_table().insert(type);
  });
}

int tutti_datatype_sides(tutti_datatype_t send, tutti_datatype_t recv, tutti_datatype_t* datatype) {
  return guard([&] {
    const Derived first = one_layout(send, "send");
    const Derived second = one_layout(recv, "recv");
    if (first.element != second.element)
      throw_misuse(tutti::ErrorCode::invalid_datatype,
                   "arguments send and recv have different elements; pass datatypes of one element type");
    give_derived(datatype, {first.element, first.send, second.recv, true});
  });
}

int tutti_datatype_free(tutti_datatype_t* datatype) {
  return guard([&] {
    tutti_datatype_t& type = output(datatype, "datatype");
    if (type != TUTTI_DATATYPE_NULL && !derived_table().erase(type))
      throw_misuse(tutti::ErrorCode::invalid_datatype,
                   fmt::format("argument datatype is {}, which is no derived datatype or was freed before; free each "
                               "derived datatype once, and no constant of tutti.h",
                               type));
    type = TUTTI_DATATYPE_NULL;
  });
}
