// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::tools {

/// The MPI's library that a program loads when it starts, by itself or through another library: its name, such as
/// "libmpi_abi.so.1". Empty if it loads none, or is no program with a dynamic linker (a script, a static program).
/// `program` is a file, or a word that is looked up in PATH.
[[nodiscard]] std::string mpi_loaded_by(const std::string& program);

/// The file of a library for this processor, in the first of the folders that has one; empty if none has.
[[nodiscard]] std::string file_in(const std::vector<std::filesystem::path>& folders, const char* name);

/// The file of libtutti-mpi for programs with this MPI, in the first of the folders that has it: libtutti-mpi-abi.so
/// for the ABI of MPI 5 (libmpi_abi.so), else libtutti-mpi.so. Where no MPI is named, either, rather the second. Throws
/// tutti::Error not_built.
[[nodiscard]] std::string library_for(const std::string& mpi, const std::vector<std::filesystem::path>& folders);

}  // namespace tutti::tools
