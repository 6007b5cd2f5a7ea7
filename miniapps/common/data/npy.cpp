// SPDX-License-Identifier: BSD-3-Clause
#include "npy.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <tutti/error.hpp>

namespace tutti::miniapps {

static_assert(std::endian::native == std::endian::little, "elements of .npy files are little-endian");

namespace {

constexpr std::string_view npy_magic("\x93NUMPY", 6);

[[noreturn]] void fail_npy(const std::string& name, const std::string& what) {
  throw Error(ErrorCode::io, name + ": " + what);
}

/// The text behind 'KEY': in the header, which is a dictionary of Python.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& name) {
  const auto at = header.find("'" + std::string(key) + "'");
  const auto colon = at == std::string_view::npos ? at : header.find(':', at);
  if (colon == std::string_view::npos) {
    fail_npy(name, "is a damaged .npy: its header has no " + std::string(key));
  }
  const auto begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::string_view() : header.substr(begin);
}

std::string read_type(std::string_view header, const std::string& name) {
  const std::string_view text = value_of(header, "descr", name);
  const auto end = text.size() > 1 && text[0] == '\'' ? text.find('\'', 1) : std::string_view::npos;
  if (end == std::string_view::npos || end > 8) {
    fail_npy(name, "holds no array of plain numbers");
  }
  return std::string(text.substr(1, end - 1));
}

std::vector<std::uint64_t> read_shape(std::string_view header, const std::string& name) {
  std::string_view text = value_of(header, "shape", name);
  const auto end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) {
    fail_npy(name, "is a damaged .npy: its header has no shape");
  }
  text = text.substr(1, end - 1);
  std::vector<std::uint64_t> shape;
  while (text.find_first_not_of(" ,") != std::string_view::npos) {
    text.remove_prefix(text.find_first_not_of(" ,"));
    std::uint64_t extent = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (status != std::errc() || shape.size() == 8) {
      fail_npy(name, "is a damaged .npy: its shape is not a list of numbers");
    }
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
  return shape;
}

/// The text of the header; `content` then begins with the elements.
std::string_view take_header(std::string_view& content, const std::string& name) {
  if (!content.starts_with(npy_magic) || content.size() < 12) {
    fail_npy(name, "is no .npy of numpy");
  }
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(content[i])}; };
  const bool is_long = byte(6) >= 2;
  const std::size_t begin = is_long ? 12 : 10;
  const std::size_t length =
      is_long ? byte(8) | byte(9) << 8U | byte(10) << 16U | byte(11) << 24U : byte(8) | byte(9) << 8U;
  if (byte(6) > 3 || length > content.size() - begin) {
    fail_npy(name, "is a damaged .npy: its header is cut");
  }
  const std::string_view header = content.substr(begin, length);
  content.remove_prefix(begin + length);
  return header;
}

/// "<f4", "<i4" and "|u1" have 4, 4 and 1.
std::size_t element_bytes(const std::string& type, const std::string& name) {
  const bool known = type.size() == 3 && std::string_view("<|").find(type[0]) != std::string_view::npos &&
                     std::string_view("biuf").find(type[1]) != std::string_view::npos &&
                     std::string_view("1248").find(type[2]) != std::string_view::npos;
  if (!known) {
    fail_npy(name, "has elements '" + type + "', which are no little-endian numbers");
  }
  return static_cast<std::size_t>(type[2] - '0');
}

}  // namespace

std::uint64_t NpyArray::elements() const {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) {
    const bool fits = extent == 0 || product <= std::numeric_limits<std::uint64_t>::max() / extent;
    product = fits ? product * extent : std::numeric_limits<std::uint64_t>::max();
  }
  return product;
}

std::string npy_header(const std::string& type, const std::vector<std::uint64_t>& shape) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? " " : "") + std::to_string(shape[i]) + (i + 1 < shape.size() || shape.size() == 1 ? "," : "");
  }
  text += "), }";
  const std::size_t all = (10 + text.size() + 1 + 63) / 64 * 64;
  text.append(all - 10 - text.size() - 1, ' ');
  text += '\n';
  std::string header(npy_magic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 255U), static_cast<char>(text.size() >> 8U)};
  return header + text;
}

NpyArray parse_npy_begin(std::string_view begin, std::uint64_t bytes, const std::string& name) {
  const std::uint64_t all = begin.size();
  const std::string_view header = take_header(begin, name);
  NpyArray array{read_type(header, name), read_shape(header, name), begin};
  if (!value_of(header, "fortran_order", name).starts_with("False")) {
    fail_npy(name, "is in the order of Fortran; save it by numpy.ascontiguousarray");
  }
  const std::size_t size = element_bytes(array.type, name);
  const std::uint64_t left = bytes - (all - begin.size());
  if (array.elements() > left / size || array.elements() * size != left) {
    fail_npy(name, "has " + std::to_string(left) +
                       " bytes of elements, which its shape does not fit; it is cut, copy or save it again");
  }
  return array;
}

NpyArray parse_npy(std::string_view content, const std::string& name) {
  return parse_npy_begin(content, content.size(), name);
}

void expect_npy(const NpyArray& array, const std::string& name, const std::string& type, std::size_t dimensions) {
  if (array.type != type || array.shape.size() != dimensions) {
    fail_npy(name, "has elements " + array.type + " in " + std::to_string(array.shape.size()) + " dimensions, not " +
                       type + " in " + std::to_string(dimensions) + "; save it by numpy.astype or reshape");
  }
}

NpyArray parse_npy(std::string_view content, const std::string& name, const std::string& type, std::size_t dimensions) {
  NpyArray array = parse_npy(content, name);
  expect_npy(array, name, type, dimensions);
  return array;
}

}  // namespace tutti::miniapps
