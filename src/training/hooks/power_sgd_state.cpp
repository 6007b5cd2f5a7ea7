// SPDX-License-Identifier: BSD-3-Clause
#include "training/hooks/power_sgd_state.hpp"

#include <string>

#include "training/byte_stream.hpp"

namespace tutti::training {

namespace {

constexpr std::uint64_t magic = 0x314447535f726f50;  // marks states of this hook

template <typename T>
void write(ByteWriter& writer, const std::map<std::size_t, Factors<T>>& factors) {
  writer.value(static_cast<std::uint64_t>(factors.size()));
  for (const auto& [parameter, f] : factors) {
    for (const std::size_t number : {parameter, f.shape.rows, f.shape.cols, f.rank, f.error.size()})
      writer.value(static_cast<std::uint64_t>(number));
    writer.values(f.error.data(), f.error.size());
    writer.values(f.right.data(), f.right.size());
  }
}

template <typename T>
void read(ByteReader& reader, std::map<std::size_t, Factors<T>>& factors) {
  reader.expect(static_cast<std::uint64_t>(factors.size()), "the saved state has another number of matrices");
  for (auto& [parameter, f] : factors) {
    for (const std::size_t number : {parameter, f.shape.rows, f.shape.cols, f.rank, f.error.size()})
      if (reader.value<std::uint64_t>() != number)
        reader.fail("the saved state differs from parameter " + std::to_string(parameter) +
                    " in number, shape, rank or error feedback; prepare with the same parameters and options first");
    reader.values(f.error.data(), f.error.size());
    reader.values(f.right.data(), f.right.size());
  }
}

}  // namespace

template <typename T>
Factors<T>& PowerSgdState::find_or_make(std::size_t parameter, Shape shape, std::size_t rank, bool with_error) {
  Factors<T>& f = all<T>()[parameter];
  const std::size_t error_size = with_error ? shape.rows * shape.cols : 0;
  const bool fits =
      f.shape.rows == shape.rows && f.shape.cols == shape.cols && f.rank == rank && f.error.size() == error_size;
  if (!fits) f = {shape, rank, std::vector<T>(error_size), std::vector<T>(rank * shape.cols)};
  return f;
}

template Factors<float>& PowerSgdState::find_or_make<float>(std::size_t, Shape, std::size_t, bool);
template Factors<double>& PowerSgdState::find_or_make<double>(std::size_t, Shape, std::size_t, bool);

std::vector<std::byte> PowerSgdState::save() const {
  ByteWriter writer;
  writer.value(magic);
  writer.value(step);
  write(writer, singles_);
  write(writer, doubles_);
  return writer.take();
}

void PowerSgdState::load(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, {"communication hook power_sgd"});
  reader.expect(magic, "the bytes given to load() are not from save() of this hook");
  PowerSgdState loaded = *this;
  loaded.step = reader.value<std::uint64_t>();
  read(reader, loaded.singles_);
  read(reader, loaded.doubles_);
  reader.expect_end();
  step = loaded.step;
  for (auto& [parameter, f] : loaded.singles_) singles_[parameter] = std::move(f);
  for (auto& [parameter, f] : loaded.doubles_) doubles_[parameter] = std::move(f);
}

}  // namespace tutti::training
