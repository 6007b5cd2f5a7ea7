// SPDX-License-Identifier: BSD-3-Clause
#include "replay/messages_file.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace tutti::commbench::replay {
namespace {

constexpr unsigned most_bits = 64;

/// Adds 7 bits of a varint; whether it goes on.
bool add_to_varint(std::uint8_t byte, unsigned& shift, std::uint64_t& value) {
  value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
  shift += 7;
  return (byte & 0x80U) != 0;
}

}  // namespace

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  unsigned shift = 0;
  bool goes_on = true;
  while (goes_on) {
    if (rest_.empty() || shift >= most_bits) return std::nullopt;
    goes_on = add_to_varint(static_cast<std::uint8_t>(rest_.front()), shift, value);
    rest_.remove_prefix(1);
  }
  return value;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t bytes) {
  if (rest_.size() < bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i > 0; --i) value = value << 8U | static_cast<std::uint8_t>(rest_[i - 1]);
  rest_.remove_prefix(bytes);
  return value;
}

std::optional<WireField> WireReader::wrong() {
  is_wrong_ = true;
  return std::nullopt;
}

std::optional<WireField> WireReader::next() {
  if (rest_.empty() || is_wrong_) return std::nullopt;
  constexpr std::uint64_t varint_type = 0;
  constexpr std::uint64_t i64_type = 1;
  constexpr std::uint64_t len_type = 2;
  constexpr std::uint64_t i32_type = 5;
  const auto tag = varint();
  if (!tag || *tag >> 3U == 0) return wrong();
  WireField field;
  field.number = static_cast<std::uint32_t>(*tag >> 3U);
  const std::uint64_t type = *tag & 7U;
  if (type != varint_type && type != i64_type && type != len_type && type != i32_type) return wrong();
  const auto value = type == i64_type ? fixed(8) : type == i32_type ? fixed(4) : varint();
  if (!value) return wrong();
  field.value = *value;
  if (type != len_type) return field;
  if (*value > rest_.size()) return wrong();
  field.has_bytes = true;
  field.bytes = rest_.substr(0, *value);
  rest_.remove_prefix(*value);
  return field;
}

MessagesFile::MessagesFile(const std::string& path) : TraceFile(path), file_(path, std::ios::binary) {
  check_readable();
  left_ = std::filesystem::file_size(path);
}

std::optional<std::uint64_t> MessagesFile::length() {
  std::uint64_t value = 0;
  unsigned shift = 0;
  bool goes_on = true;
  while (goes_on) {
    const int byte = file_.get();
    if (byte == std::ifstream::traits_type::eof() || shift >= most_bits) return std::nullopt;
    goes_on = add_to_varint(static_cast<std::uint8_t>(byte), shift, value);
    --left_;
  }
  return value;
}

std::optional<std::string_view> MessagesFile::next() {
  if (left_ == 0) return std::nullopt;
  ++number_;
  const auto bytes = length();
  if (!bytes || *bytes > left_) fail("the file ends within it; is the file whole?");
  message_.resize(*bytes);
  file_.read(message_.data(), static_cast<std::streamsize>(*bytes));
  if (static_cast<std::uint64_t>(file_.gcount()) != *bytes) fail("it cannot be read; is the file whole?");
  left_ -= *bytes;
  return message_;
}

std::string MessagesFile::place() const { return fmt::format("message {}", number_); }

}  // namespace tutti::commbench::replay
