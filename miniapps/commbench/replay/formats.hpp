// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "replay/recording.hpp"
#include "replay/records.hpp"

/// The formats of traces, each read by a function of its own.
namespace tutti::commbench::replay {

inline constexpr double microsecond = 1e-6;
inline constexpr double nanosecond = 1e-9;

/// What TUTTI_TRACE and `tutti trace merge` write: all ranks in one file.
[[nodiscard]] Recording read_tutti_trace(JsonFile& file, int rank);

/// A basic trace of PARAM (facebookresearch/param, train/comms/pt/commsTraceParser.py): a list of objects with "comms".
[[nodiscard]] Recording read_param_trace(JsonFile& file, int rank, int ranks);

/// An execution trace of PyTorch (torch.profiler.ExecutionTraceObserver), also one of Chakra in JSON: the nodes
/// "record_param_comms".
[[nodiscard]] Recording read_execution_trace(JsonFile& file, int rank, int ranks);

/// A trace of PyTorch's profiler (Kineto): the events "record_param_comms" with "Collective name".
[[nodiscard]] Recording read_kineto_trace(JsonFile& file, int rank, int ranks);

/// A trace of MLCommons Chakra (schema/protobuf/et_def.proto): messages of Protocol Buffers, each behind its length.
[[nodiscard]] Recording read_chakra_trace(const std::string& path, int rank, int ranks);
/// Whether a file begins as one.
[[nodiscard]] bool is_chakra_trace(const std::string& path);

}  // namespace tutti::commbench::replay
