// SPDX-License-Identifier: BSD-3-Clause
// Bags of indices from arrays of Python.
#include <string>
#include <tutti/error.hpp>

#include "embeddings.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

using kernels::IndexType;
using kernels::TableLookups;

const void* read(Bags& bags, nb::handle array, const char* argument, Datatype* type) {
  if (array.is_none()) return nullptr;
  bags.views.emplace_back(array, View::Use::read, argument);
  const Buffer& buffer = bags.views.back().contiguous(argument);
  *type = buffer.type;
  return buffer.data;
}

[[noreturn]] void refuse(const std::string& text) { throw nb::type_error(text.c_str()); }

/// The bags of one table: None, or (indices, offsets) or (indices, offsets, weights).
TableLookups lookups_from(Bags& bags, nb::handle of_table, std::size_t samples) {
  if (of_table.is_none()) return {};
  const auto arrays = nb::cast<nb::tuple>(nb::steal(PySequence_Tuple(of_table.ptr())));
  if (arrays.size() < 2 || arrays.size() > 3)
    refuse("the bags of a table are None, (indices, offsets) or (indices, offsets, weights)");
  TableLookups found;
  Datatype type;
  found.indices = read(bags, arrays[0], "indices", &type);
  const std::size_t indices = bags.views.back().output().count;
  if (type != Datatype(DatatypeKind::int64) && type != Datatype(DatatypeKind::int32))
    refuse("indices must be an array of int64 or int32");
  bags.type = type == Datatype(DatatypeKind::int64) ? IndexType::int64 : IndexType::int32;
  found.offsets = static_cast<const std::int64_t*>(read(bags, arrays[1], "offsets", &type));
  if (type != Datatype(DatatypeKind::int64)) refuse("offsets must be an array of int64");
  if (bags.views.back().output().count != samples + 1)
    throw Error(ErrorCode::invalid_argument,
                "offsets has " + std::to_string(bags.views.back().output().count) + " elements, but " +
                    std::to_string(samples) + " bags need one more than their number; pass a last one, len(indices)");
  if (found.offsets[0] < 0 || found.offsets[samples] > static_cast<std::int64_t>(indices))
    throw Error(ErrorCode::invalid_argument, "offsets leaves the array indices, which has " + std::to_string(indices) +
                                                 " elements; it begins with 0 and ends with their number at most");
  if (arrays.size() == 3 && !nb::object(arrays[2]).is_none()) {
    found.weights = static_cast<const float*>(read(bags, arrays[2], "weights", &type));
    if (type != Datatype(DatatypeKind::float32) || bags.views.back().output().count < indices)
      refuse("weights must be an array of float32, one for each index");
  }
  return found;
}

}  // namespace

std::string read_bags(Bags& bags, const nb::sequence& tables, std::size_t samples) {
  try {
    for (const nb::handle table : tables) bags.tables.push_back(lookups_from(bags, table, samples));
  } catch (const Error& error) {
    return error.what();
  } catch (const nb::builtin_exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace tutti::python
