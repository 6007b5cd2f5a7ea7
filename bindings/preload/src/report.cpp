// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <numeric>
#include <string>

#include "settings.hpp"
#include "yield.hpp"

namespace tutti::preload {
namespace {

using Row = std::array<std::uint64_t, reasons>;

std::array<std::array<std::atomic<std::uint64_t>, reasons>, collectives>& counts() {
  static std::array<std::array<std::atomic<std::uint64_t>, reasons>, collectives> all{};
  return all;
}

constexpr std::array<const char*, reasons> texts = {"",
                                                    "TUTTI_MPI=0",
                                                    "one rank",
                                                    "intercommunicator",
                                                    "arguments that MPI refuses",
                                                    "before Tutti's side of the communicator",
                                                    "reduction",
                                                    "Tutti has its share of the MPI's communicators",
                                                    "no set-up",
                                                    "after a call that differed between ranks",
                                                    "nonblocking, and needs calls of Tutti to go on",
                                                    "another library is loaded before this one"};

std::array<Row, collectives> sum_of_all_ranks() {
  std::array<Row, collectives> own{};
  std::array<Row, collectives> sum{};
  for (std::size_t i = 0; i < collectives; ++i)
    for (std::size_t j = 0; j < reasons; ++j) own[i][j] = counts()[i][j].load();
  PMPI_Reduce(own.data(), sum.data(), static_cast<int>(collectives * reasons), MPI_UINT64_T, MPI_SUM, 0,
              MPI_COMM_WORLD);
  return sum;
}

/// Calls on communicators of one rank do not count: there is nothing to do in them.
std::string share_of(const std::array<Row, collectives>& sum) {
  Row all{};
  for (const Row& row : sum)
    for (std::size_t j = 0; j < reasons; ++j) all[j] += row[j];
  all[static_cast<std::size_t>(Reason::one_rank)] = 0;
  const std::uint64_t calls = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  std::string text = fmt::format("tutti-mpi: {} of {} collective calls ({:.1f} %) went through Tutti\n", all[0], calls,
                                 calls == 0 ? 0.0 : 100.0 * static_cast<double>(all[0]) / static_cast<double>(calls));
  for (std::size_t j = 1; j < reasons; ++j)
    if (all[j] != 0) text += fmt::format("tutti-mpi: {} were passed on: {}\n", all[j], texts[j]);
  return text;
}

std::string text_of(const std::array<Row, collectives>& sum) {
  std::string text = share_of(sum);
  for (std::size_t i = 0; i < collectives; ++i)
    for (std::size_t j = 0; j < reasons; ++j)
      if (sum[i][j] != 0)
        text += fmt::format("tutti-mpi: {:<22}{:>12}  {}{}\n", call_name(static_cast<Collective>(i)), sum[i][j],
                            j == 0 ? "through Tutti" : "passed on: ", texts[j]);
  return text;
}

}  // namespace

void count(Collective which, Reason reason) {
  if (!settings().reports) return;
  counts()[static_cast<std::size_t>(which)][static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

void print_report() {
  if (!settings().reports) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto sum = sum_of_all_ranks();
  const std::uint64_t own = yields();
  std::uint64_t all = 0;
  PMPI_Reduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::fputs(text_of(sum).c_str(), stderr);
  if (all > 0) std::fputs(fmt::format("tutti-mpi: waits of the MPI gave up the core {} times\n", all).c_str(), stderr);
}

}  // namespace tutti::preload

void tutti_mpi_calls(unsigned long long* through, unsigned long long* passed) {
  *through = 0;
  *passed = 0;
  for (const auto& row : tutti::preload::counts()) {
    *through += row[0].load();
    for (std::size_t j = 1; j < tutti::preload::reasons; ++j) *passed += row[j].load();
  }
}
