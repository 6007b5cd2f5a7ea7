// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tutti/datatype.hpp>
#include <tutti/operation.hpp>
#include <vector>

#include "replay/recording.hpp"
#include "replay/records.hpp"

/// The names that traces of PyTorch and of PARAM have for calls and datatypes.
namespace tutti::commbench::replay {

enum class TorchKind : std::uint8_t {
  collective,
  send,
  recv,
  wait,
  nothing,  ///< an init, or the bracket around messages that are recorded themselves
  unknown,
};

/// A call by its name: "allreduce", "all_reduce", "_allgather_base", "all_to_allv", "ncclDevKernel..." is none.
struct TorchCall {
  TorchKind kind = TorchKind::unknown;
  Operation operation = Operation::barrier;
};

[[nodiscard]] TorchCall find_torch_call(std::string_view name);

/// A datatype by its name: "Float", "float32", "Tensor(c10::BFloat16)", "long int".
[[nodiscard]] std::optional<Datatype> find_torch_type(std::string_view name);

/// What a record tells of a collective, in elements.
struct TorchSizes {
  std::size_t in = 0;
  std::size_t out = 0;
  std::vector<std::size_t> in_split{};
  std::vector<std::size_t> out_split{};
};

/// The exchange of a collective on a communicator of so many ranks. The traces do not tell by which operation it
/// reduces: sum, or the logical or of truth values. What does not fit is an error of the record.
[[nodiscard]] Exchange torch_exchange(const Record& record, Operation operation, Datatype type, const TorchSizes& sizes,
                                      std::size_t ranks);

}  // namespace tutti::commbench::replay
