// SPDX-License-Identifier: BSD-3-Clause
#include <zlib.h>

#include <algorithm>
#include <tutti/error.hpp>

#include "npy.hpp"

namespace tutti::miniapps {

namespace {

constexpr std::uint32_t local_mark = 0x04034b50;
constexpr std::uint32_t entry_mark = 0x02014b50;
constexpr std::uint32_t end64_mark = 0x06064b50;
constexpr std::uint32_t locator_mark = 0x07064b50;
constexpr std::uint32_t end_mark = 0x06054b50;
constexpr std::uint32_t in_extra = 0xffffffff;  // a size that follows in 64 bits
constexpr std::size_t end_bytes = 22;

[[noreturn]] void fail_npz(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

template <typename T>
void put(std::string& text, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    text += static_cast<char>(value >> (8 * i) & 255U);
  }
}

template <typename T>
T get(std::string_view text, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(static_cast<unsigned char>(text[at + i])) << (8 * i)));
  }
  return value;
}

void put_common(std::string& text, std::uint32_t crc32, std::uint32_t bytes) {
  put<std::uint16_t>(text, 45);  // the version that has sizes of 64 bits
  put<std::uint16_t>(text, 0);
  put<std::uint16_t>(text, 0);   // stored
  put<std::uint16_t>(text, 0);   // no time: the same bytes at any time
  put<std::uint16_t>(text, 33);  // 1980-01-01
  put(text, crc32);
  put(text, bytes);
  put(text, bytes);
}

/// The value where it is as short as Python's zipfile has it; else the mark, and the value at the end of `extra`.
std::uint32_t short_or_extra(std::uint64_t value, std::string& extra) {
  if (value < 1U << 31U) {
    return static_cast<std::uint32_t>(value);
  }
  put(extra, value);
  return in_extra;
}

/// The first `want` bytes at most of a member of `bytes` bytes, all where it has no more.
std::string inflate_begin(std::string_view packed, std::uint64_t bytes, std::uint64_t want, const std::string& name) {
  std::string out;
  ::z_stream stream{};
  if (bytes / 1032 > packed.size() || ::inflateInit2(&stream, -MAX_WBITS) != Z_OK) {  // deflate's largest ratio
    fail_npz(name, "cannot be decompressed; save it again");
  }
  out.resize(std::min(want, bytes + 1));  // room to see that there is more
  std::size_t taken = 0;
  std::size_t made = 0;
  int status = Z_OK;
  while (status == Z_OK && made < out.size()) {
    const auto in = static_cast<uInt>(std::min<std::size_t>(packed.size() - taken, 1U << 30U));
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size() - made, 1U << 30U));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = room;
    status = ::inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += room - stream.avail_out;
  }
  ::inflateEnd(&stream);
  const bool is_whole = status == Z_STREAM_END && made == bytes;
  if (!is_whole && (status != Z_OK || made > bytes || made < want)) {
    fail_npz(name, "is damaged; save it again");
  }
  out.resize(made);
  return out;
}

std::uint32_t crc_of(std::string_view text) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

/// Offset and length of the directory.
std::pair<std::uint64_t, std::uint64_t> find_directory(std::string_view content, const std::filesystem::path& path) {
  constexpr std::size_t most_comment = 65535;
  const std::size_t least = content.size() > end_bytes + most_comment ? content.size() - end_bytes - most_comment : 0;
  for (std::size_t at = content.size() < end_bytes ? 0 : content.size() - end_bytes + 1; at-- > least;) {
    if (get<std::uint32_t>(content, at) != end_mark) {
      continue;
    }
    std::uint64_t length = get<std::uint32_t>(content, at + 12);
    std::uint64_t offset = get<std::uint32_t>(content, at + 16);
    if (at >= 20 && get<std::uint32_t>(content, at - 20) == locator_mark) {
      const auto end64 = get<std::uint64_t>(content, at - 12);
      if (content.size() < 56 || end64 > content.size() - 56 || get<std::uint32_t>(content, end64) != end64_mark) {
        break;
      }
      length = get<std::uint64_t>(content, end64 + 40);
      offset = get<std::uint64_t>(content, end64 + 48);
    }
    if (offset <= content.size() && length <= content.size() - offset) {
      return {offset, length};
    }
    break;
  }
  fail_npz(path, "is no .npz of numpy, or it is cut");
}

/// The sizes of an entry that stand in its extra field, each behind the other.
void read_extra(std::string_view extra, std::uint64_t& bytes, std::uint64_t& packed, std::uint64_t& offset) {
  while (extra.size() >= 4) {
    const auto length = get<std::uint16_t>(extra, 2);
    std::string_view field = extra.substr(4, length);
    if (get<std::uint16_t>(extra, 0) == 1) {
      for (std::uint64_t* value : {&bytes, &packed, &offset}) {
        if (*value == in_extra && field.size() >= 8) {
          *value = get<std::uint64_t>(field, 0);
          field.remove_prefix(8);
        }
      }
    }
    extra.remove_prefix(std::min<std::size_t>(extra.size(), 4U + length));
  }
}

}  // namespace

void NpzFile::check_size(std::string_view part, std::size_t bytes) const {
  if (part.size() < bytes) {
    fail_npz(file_.path(), "is a damaged .npz: its directory is cut");
  }
}

NpzFile::Member NpzFile::read_entry(std::string_view& directory, std::string& name) const {
  check_size(directory, 46);
  const std::size_t name_bytes = get<std::uint16_t>(directory, 28);
  const std::size_t extra_bytes = get<std::uint16_t>(directory, 30);
  const std::size_t all = 46 + name_bytes + extra_bytes + get<std::uint16_t>(directory, 32);
  check_size(directory, get<std::uint32_t>(directory, 0) == entry_mark ? all : directory.size() + 1);
  Member member;
  member.method = get<std::uint16_t>(directory, 10);
  member.crc32 = get<std::uint32_t>(directory, 16);
  member.bytes = get<std::uint32_t>(directory, 24);
  std::uint64_t packed = get<std::uint32_t>(directory, 20);
  std::uint64_t offset = get<std::uint32_t>(directory, 42);
  name = directory.substr(46, name_bytes);
  read_extra(directory.substr(46 + name_bytes, extra_bytes), member.bytes, packed, offset);
  directory.remove_prefix(all);
  const std::string_view content = file_.content();
  check_size(content, offset <= content.size() ? offset + 30 : content.size() + 1);
  const std::size_t begin =
      offset + 30 + get<std::uint16_t>(content, offset + 26) + get<std::uint16_t>(content, offset + 28);
  check_size(content, packed <= content.size() ? begin + packed : content.size() + 1);
  member.packed = content.substr(begin, packed);
  return member;
}

NpzFile::NpzFile(const std::filesystem::path& path) : file_(path) {
  const auto [offset, length] = find_directory(file_.content(), path);
  std::string_view directory = file_.content().substr(offset, length);
  while (!directory.empty()) {
    std::string name;
    Member member = read_entry(directory, name);
    members_[name] = std::move(member);
  }
}

const NpzFile::Member& NpzFile::member(const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) {
    fail_npz(file_.path(), "has no member " + name.substr(0, 40));
  }
  if (found->second.method != 0 && found->second.method != 8) {
    fail_npz(file_.path(), "has a member " + name.substr(0, 40) +
                               " that is compressed by another method than deflate; save it by numpy.savez");
  }
  return found->second;
}

bool NpzFile::is_deflated(const std::string& name) const { return member(name).method != 0; }

NpyArray NpzFile::array(const std::string& name, const std::string& type, std::size_t dimensions) {
  const std::string named = file_.path().string() + ", member " + name;
  if (!is_deflated(name)) {
    return parse_npy(member(name).packed, named, type, dimensions);
  }
  Member& deflated = members_.at(name);
  if (deflated.unpacked.empty()) {
    deflated.unpacked = inflate_begin(deflated.packed, deflated.bytes, deflated.bytes + 1, named);
    if (crc_of(deflated.unpacked) != deflated.crc32) {
      fail_npz(named, "is damaged: its checksum is wrong");
    }
  }
  return parse_npy(deflated.unpacked, named, type, dimensions);
}

std::vector<std::uint64_t> NpzFile::shape(const std::string& name, const std::string& type,
                                          std::size_t dimensions) const {
  constexpr std::uint64_t most_header = 4096;
  const std::string named = file_.path().string() + ", member " + name;
  const Member& found = member(name);
  const bool is_stored = found.method == 0;
  const std::string begin = is_stored ? "" : inflate_begin(found.packed, found.bytes, most_header, named);
  const NpyArray array = is_stored ? parse_npy(found.packed, named) : parse_npy_begin(begin, found.bytes, named);
  expect_npy(array, named, type, dimensions);
  return array.shape;
}

std::string zip_local_header(const ZipMember& member) {
  std::string text;
  put(text, local_mark);
  put_common(text, member.crc32, in_extra);
  put(text, static_cast<std::uint16_t>(member.name.size()));
  put<std::uint16_t>(text, 20);
  text += member.name;
  put<std::uint16_t>(text, 1);
  put<std::uint16_t>(text, 16);
  put(text, member.bytes);
  put(text, member.bytes);
  return text;
}

std::string zip_directory(const std::vector<ZipMember>& members, std::uint64_t offset) {
  std::string text;
  for (const ZipMember& member : members) {
    std::string extra;
    const std::uint32_t bytes = short_or_extra(member.bytes, extra);
    (void)short_or_extra(member.bytes, extra);  // stored: as many packed ones
    const std::uint32_t begin = short_or_extra(member.offset, extra);
    put(text, entry_mark);
    put<std::uint16_t>(text, 45);
    put_common(text, member.crc32, bytes);
    put(text, static_cast<std::uint16_t>(member.name.size()));
    put(text, static_cast<std::uint16_t>(extra.empty() ? 0 : 4 + extra.size()));
    text.append(10, '\0');  // no comment, no attributes
    put(text, begin);
    text += member.name;
    if (!extra.empty()) {
      put<std::uint16_t>(text, 1);
      put(text, static_cast<std::uint16_t>(extra.size()));
    }
    text += extra;
  }
  const std::uint64_t length = text.size();
  put(text, end64_mark);
  put<std::uint64_t>(text, 44);
  put<std::uint16_t>(text, 45);
  put<std::uint16_t>(text, 45);
  put<std::uint32_t>(text, 0);
  put<std::uint32_t>(text, 0);
  put<std::uint64_t>(text, members.size());
  put<std::uint64_t>(text, members.size());
  put(text, length);
  put(text, offset);
  put(text, locator_mark);
  put<std::uint32_t>(text, 0);
  put(text, offset + length);
  put<std::uint32_t>(text, 1);
  put(text, end_mark);
  put<std::uint32_t>(text, 0);
  put(text, static_cast<std::uint16_t>(members.size()));
  put(text, static_cast<std::uint16_t>(members.size()));
  put(text, static_cast<std::uint32_t>(std::min<std::uint64_t>(length, in_extra)));
  put(text, static_cast<std::uint32_t>(std::min<std::uint64_t>(offset, in_extra)));
  put<std::uint16_t>(text, 0);
  return text;
}

}  // namespace tutti::miniapps
