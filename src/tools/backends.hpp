// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "tools/question.hpp"

namespace tutti::tools {

/// How a backend makes an operation.
enum class Support : unsigned char {
  none,       ///< not at all
  native,     ///< by an operation of its own
  composed,   ///< from messages, by a schedule
  staged,     ///< device memory goes through host memory
  absent,     ///< not on this machine or in this job
  not_built,  ///< not in this build
};

/// One operation on one backend in one kind of memory.
struct BackendCell {
  Support support = Support::none;
  std::string limits{};  ///< the part of the operation that it cannot make; empty: none
};

/// The table of PyTorch's distributed backends, for Tutti: operation by backend by kind of memory.
struct BackendTable {
  struct Row {
    std::string operation{};
    std::vector<BackendCell> host{};    ///< one per backend
    std::vector<BackendCell> device{};  ///< one per backend
  };
  std::vector<std::string> backends{};
  std::vector<Row> rows{};
  std::vector<std::string> facts{};  ///< about this build and machine
};

/// Asks the planner for every operation, kind of call, datatype and reduction. Local.
[[nodiscard]] BackendTable backend_table(const Surroundings& surroundings);

[[nodiscard]] std::string backends_text(const BackendTable& table);
[[nodiscard]] std::string backends_json(const BackendTable& table);

}  // namespace tutti::tools
