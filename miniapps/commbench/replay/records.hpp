// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "replay/trace_file.hpp"

namespace tutti::commbench::replay {

/// A JSON file that is read object by object: only one that is wanted is in memory.
class JsonFile final : public TraceFile {
 public:
  /// Throws std::invalid_argument if the file cannot be read.
  explicit JsonFile(const std::string& path);

  /// Hands over each object at its end, with its depth: 0 is the whole document, whose objects at a wanted depth are
  /// dropped. Throws std::invalid_argument with the line if the text is no JSON, or is cut.
  void read(int wanted_depth, const std::function<void(int depth, const nlohmann::json& object)>& take);

 private:
  [[nodiscard]] std::string place() const override;
  [[nodiscard]] std::size_t line_of(std::streamoff offset) const;

  std::ifstream file_;
  std::streamoff read_ = 0;
};

/// The fields of an object of a file. What is missing or of another type is an error that names the field.
class Record {
 public:
  Record(const TraceFile& file, const nlohmann::json& object) : file_(&file), object_(&object) {}

  [[nodiscard]] bool has(const char* field) const;
  [[nodiscard]] std::string text(const char* field) const;
  [[nodiscard]] std::string text(const char* field, const std::string& otherwise) const;
  [[nodiscard]] std::int64_t number(const char* field) const;
  [[nodiscard]] std::int64_t number(const char* field, std::int64_t otherwise) const;
  [[nodiscard]] std::size_t count(const char* field) const;
  [[nodiscard]] double seconds(const char* field, double unit) const;
  [[nodiscard]] std::vector<std::size_t> counts(const char* field) const;
  [[nodiscard]] std::vector<int> ranks(const char* field) const;
  /// An object, or a list of them.
  [[nodiscard]] Record object(const char* field) const;
  [[nodiscard]] std::vector<Record> objects(const char* field) const;
  [[nodiscard]] const nlohmann::json& value() const { return *object_; }

  [[noreturn]] void fail(const std::string& problem) const { file_->fail(problem); }
  [[noreturn]] void fail(const char* field, std::string_view wanted) const;

 private:
  template <typename T>
  [[nodiscard]] T get(const char* field, std::string_view wanted) const;

  const TraceFile* file_;
  const nlohmann::json* object_;
};

}  // namespace tutti::commbench::replay
