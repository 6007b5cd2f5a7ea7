// SPDX-License-Identifier: BSD-3-Clause
#include "unpacker.hpp"

#include <zlib.h>
#ifdef TUTTI_HAVE_ZSTD
#include <zstd.h>
#endif

#include <array>
#include <fstream>
#include <new>
#include <string>
#include <string_view>
#include <tutti/error.hpp>

#include "mapped_file.hpp"

namespace tutti::miniapps {

namespace {

[[noreturn]] void fail_packed(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

class GzipUnpacker : public Unpacker {
 public:
  explicit GzipUnpacker(const std::filesystem::path& path)
      : path_(path), file_(::gzopen(path.c_str(), "rb"), ::gzclose_r) {
    constexpr unsigned buffer = 1U << 20U;
    if (!file_) {
      fail_packed(path, "cannot be opened");
    }
    (void)::gzbuffer(file_.get(), buffer);
  }
  std::size_t read(std::span<char> to) override {
    const int got = ::gzread(file_.get(), to.data(), static_cast<unsigned>(to.size()));
    int status = Z_OK;
    ::gzerror(file_.get(), &status);
    if (got < 0 || status < 0) {
      fail_packed(path_, "is a damaged or truncated gzip file; copy it again");
    }
    return static_cast<std::size_t>(got);
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
};

#ifdef TUTTI_HAVE_ZSTD
class ZstdUnpacker : public Unpacker {
 public:
  explicit ZstdUnpacker(const std::filesystem::path& path)
      : file_(path), stream_(::ZSTD_createDStream(), ::ZSTD_freeDStream) {
    if (!stream_) {
      throw std::bad_alloc();
    }
    in_ = {file_.content().data(), file_.content().size(), 0};
  }
  std::size_t read(std::span<char> to) override {
    ::ZSTD_outBuffer out{to.data(), to.size(), 0};
    while (out.pos < out.size && (in_.pos < in_.size || is_within_)) {
      const std::size_t before = out.pos;
      const bool at_end = in_.pos == in_.size;
      const std::size_t wants = ::ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (::ZSTD_isError(wants) != 0U || (wants > 0 && at_end && out.pos == before)) {
        fail_packed(file_.path(), "is a damaged or truncated zstd file; copy it again");
      }
      is_within_ = wants > 0;
    }
    return out.pos;
  }

 private:
  MappedFile file_;
  std::unique_ptr<::ZSTD_DStream, std::size_t (*)(::ZSTD_DStream*)> stream_;
  ::ZSTD_inBuffer in_{};
  bool is_within_ = false;  ///< a frame has not come to its end
};
#endif

std::unique_ptr<Unpacker> make_zstd([[maybe_unused]] const std::filesystem::path& path) {
#ifdef TUTTI_HAVE_ZSTD
  return std::make_unique<ZstdUnpacker>(path);
#else
  throw Error(ErrorCode::not_supported, path.string() +
                                            ": is compressed by zstd, which this build does not read; decompress it, "
                                            "or build with libzstd");
#endif
}

}  // namespace

Packing packing_of(const std::filesystem::path& path) {
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  const std::string_view text(begin.data(), begin.size());
  return text.starts_with("\x1f\x8b")           ? Packing::gzip
         : text.starts_with("\x28\xb5\x2f\xfd") ? Packing::zstd
                                                : Packing::none;
}

bool has_zstd() {
#ifdef TUTTI_HAVE_ZSTD
  return true;
#else
  return false;
#endif
}

std::unique_ptr<Unpacker> make_unpacker(const std::filesystem::path& path) {
  if (packing_of(path) == Packing::zstd) {
    return make_zstd(path);
  }
  return std::make_unique<GzipUnpacker>(path);
}

}  // namespace tutti::miniapps
