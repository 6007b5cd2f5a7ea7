// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "tools/doctor/facts.hpp"

/// Exchanges over MPI_COMM_WORLD by plain MPI, so that they work where no communicator of Tutti can be made. All are
/// collective and wait yielding.
namespace tutti::tools::doctor {

/// The facts of all ranks, on rank 0; the other ranks get the topology and their own facts only. `own`: of this rank.
[[nodiscard]] Job gather_job(RankFacts own);

/// The texts of all ranks, on rank 0.
[[nodiscard]] std::vector<std::string> gather_texts(const std::string& own);
/// The greatest of all ranks, element by element.
void take_greatest(std::vector<double>& numbers);
/// Returns when all ranks are here.
void meet();
/// The text of the lowest rank that has one, as "rank 1: text"; empty if none has one. The same on all ranks.
[[nodiscard]] std::string first_problem(const std::string& own);
/// A number of rank 0, on all ranks.
[[nodiscard]] int from_root(int number);

/// Makes a communicator of all ranks; invalid if a rank could not, which `made` then says.
[[nodiscard]] Communicator make_communicator(Made& made);
/// Prepares it for device memory if every rank has a device, and adds the outcome. A failure is in the report.
void prepare_device(const Communicator& comm, const RankFacts& own, Made& made);

}  // namespace tutti::tools::doctor
