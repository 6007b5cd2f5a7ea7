// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// The commands of `tutti`, but for topo, which has a header of its own. Those that need no MPI, or must run before it,
/// are recognised by the command line.
namespace tutti::tools {

/// `tutti explain`: the choice for a call and its reasons, and the table of operations and backends.
void add_explain(CLI::App& app);

/// `tutti tune`: measures the candidates of all calls on the ranks of this job and writes a table of the results.
void add_tune(CLI::App& app);

/// `tutti regret`: measures how much slower the choices without a table are than the fastest ways.
void add_regret(CLI::App& app);

/// `tutti info`: version, MPI, how the library was built, what it can do here, its files, its variables.
void add_info(CLI::App& app);
/// What it prints. Collective over MPI_COMM_WORLD.
[[nodiscard]] std::string info_text();

/// `tutti --version`: version, commit and options of the build. Its first line is "tutti 1.2.3".
[[nodiscard]] std::string version_text();

/// `tutti doctor`: finds what slows or breaks programs here, and tests every path.
void add_doctor(CLI::App& app);
/// For `tutti doctor`, before MPI is initialised: names on standard error what may keep MPI from starting.
void warn_before_mpi(int argc, const char* const* argv);

/// `tutti flight`: shows what the ranks of a job have called, and who waits for whom. Needs no MPI.
void add_flight(CLI::App& app);
[[nodiscard]] bool is_flight(int argc, const char* const* argv);

/// `tutti diff`: names the first call in which two runs part, whose recorders have checksums. Needs no MPI.
void add_diff(CLI::App& app);
[[nodiscard]] bool is_diff(int argc, const char* const* argv);

/// `tutti trace`: merges the parts of a trace, and says where the time of a traced job went. Needs no MPI.
void add_trace(CLI::App& app);
[[nodiscard]] bool is_trace(int argc, const char* const* argv);

/// `tutti run -- program arguments`: this process becomes a program that calls MPI only, with libtutti-mpi loaded
/// before the MPI. For each rank, under any launcher.
void add_run(CLI::App& app);
[[nodiscard]] bool is_run(int argc, const char* const* argv);

}  // namespace tutti::tools
