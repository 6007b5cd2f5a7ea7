// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

namespace tutti::commbench::replay {

/// A file of records, which knows the place of the one that it read last.
class TraceFile {
 public:
  explicit TraceFile(std::string path) : path_(std::move(path)) {}
  virtual ~TraceFile() = default;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The first bytes of the file.
  [[nodiscard]] std::string begin() const;
  /// Throws std::invalid_argument: what is wrong with that record.
  [[noreturn]] void fail(const std::string& problem) const;

 protected:
  /// Of that record: "line 3".
  [[nodiscard]] virtual std::string place() const = 0;
  /// Throws std::invalid_argument if the file cannot be read.
  void check_readable() const;

 private:
  std::string path_;
};

}  // namespace tutti::commbench::replay
