// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/reduce_op.hpp>

/// One function per family of types, each in a translation unit of its own. Each returns false if the operation is not
/// defined for the type.
namespace tutti::kernels {

struct CombineCall {
  DatatypeKind type;
  ReduceKind op;
  std::span<const void* const> inputs;
  void* output;
  std::size_t count;
};

bool combine_integers(const CombineCall& call);  ///< and logicals
bool combine_float(const CombineCall& call);     ///< float32 and float64
bool combine_narrow(const CombineCall& call);    ///< floats of 16 and 8 bits
bool combine_complex(const CombineCall& call);
bool combine_pair(const CombineCall& call);
void combine_user(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output,
                  std::size_t count);

}  // namespace tutti::kernels
