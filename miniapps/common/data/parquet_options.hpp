// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/command_line/options.hpp"
#include "parquet_set.hpp"

namespace tutti::command_line {

/// For the help of a program that reads data: a line that says whether this build has Parquet, and the remedy where it
/// has not, as the error for a file of Parquet does.
inline std::string parquet_text() {
  return fmt::format("Parquet: {}", miniapps::has_parquet() ? "yes" : fmt::format("no; {}", miniapps::parquet_remedy));
}

/// The options that name the columns of files of Parquet, the same in all programs. `names` outlives the parsing; a
/// value is checked against the files alone.
inline void add_parquet_names(CLI::App& app, miniapps::ParquetNames& names) {
  add_text(app, "--label", names.label, "NAME", "Parquet: the column of the label (none: label)");
  add_text(app, "--dense-columns", names.dense, "NAME,...",
           "Parquet: the columns of dense features; I* stands for I and a number (none: int_* or I*)");
  add_text(app, "--sparse-columns", names.sparse, "NAME,...",
           "Parquet: the columns of the tables, integers, texts or lists of them (none: cat_* or C*)");
}

}  // namespace tutti::command_line
