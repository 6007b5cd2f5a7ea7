// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "replay/trace_file.hpp"

namespace tutti::commbench::replay {

/// A field of a message of Protocol Buffers: its number, and its value by wire type. Source: protobuf.dev, "Encoding".
struct WireField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;   ///< of types VARINT, I64 and I32
  std::string_view bytes{};  ///< of type LEN
  bool has_bytes = false;
};

/// The fields of a message, in their order.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  /// The next field; none at the end, and where the bytes are no message.
  [[nodiscard]] std::optional<WireField> next();
  [[nodiscard]] bool is_wrong() const { return is_wrong_; }

 private:
  [[nodiscard]] std::optional<std::uint64_t> varint();
  [[nodiscard]] std::optional<std::uint64_t> fixed(std::size_t bytes);
  [[nodiscard]] std::optional<WireField> wrong();

  std::string_view rest_;
  bool is_wrong_ = false;
};

/// A file of messages, each behind its length as a varint. Only one of them is in memory.
class MessagesFile final : public TraceFile {
 public:
  /// Throws std::invalid_argument if the file cannot be read.
  explicit MessagesFile(const std::string& path);

  /// The next message, valid until the one after it; none at the end. Throws std::invalid_argument where the file is
  /// cut.
  [[nodiscard]] std::optional<std::string_view> next();

 private:
  [[nodiscard]] std::string place() const override;
  [[nodiscard]] std::optional<std::uint64_t> length();

  std::ifstream file_;
  std::uint64_t left_;  ///< bytes
  std::string message_{};
  std::size_t number_ = 0;
};

}  // namespace tutti::commbench::replay
