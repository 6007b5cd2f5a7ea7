// SPDX-License-Identifier: BSD-3-Clause
#include "beside.hpp"

#include <tutti/parts.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "memory.hpp"

#if TUTTI_HAVE_BLAS
#include "common/blas/multiply.hpp"
#endif
#if TUTTI_HAS_TRAINING
#include <tutti/kernels/embedding_bag.hpp>

#include "common/counter_random.hpp"
#endif

namespace tutti::commbench {
namespace {

/// Where a step through a size ends.
std::size_t end_of(std::size_t size, int part, int parts) {
  return size * static_cast<std::size_t>(part + 1) / static_cast<std::size_t>(parts);
}

std::size_t begin_of(std::size_t size, int part, int parts) { return part == 0 ? 0 : end_of(size, part - 1, parts); }

/// Through memory of a bounded size, again and again.
class CopyComputation final : public Computation {
 public:
  void resize(std::size_t size) override {
    size_ = size;
    const std::size_t bytes = std::min(size, most_memory);
    if (from_.size() >= bytes) return;
    from_ = Memory(nullptr, MemorySpace::host, bytes);
    to_ = Memory(nullptr, MemorySpace::host, bytes);
    std::memset(from_.data(), 1, bytes);
    std::memset(to_.data(), 0, bytes);
  }
  void run(int part, int parts) override {
    const std::size_t ring = std::min(size_, most_memory);
    const std::size_t end = end_of(size_, part, parts);
    for (std::size_t at = begin_of(size_, part, parts); at < end;) {
      const std::size_t bytes = std::min(end - at, ring - at % ring);
      std::memcpy(to_.data() + at % ring, from_.data() + at % ring, bytes);
      at += bytes;
    }
  }

 private:
  static constexpr std::size_t most_memory = std::size_t{256} << 20U;
  std::size_t size_ = 0;
  Memory from_{};
  Memory to_{};
};

#if TUTTI_HAVE_BLAS
class GemmComputation final : public Computation {
 public:
  void resize(std::size_t size) override {
    size_ = size;
    for (auto* matrix : {&a_, &b_, &product_}) matrix->resize(std::max(matrix->size(), size * size), 1e-3F);
  }
  void run(int part, int parts) override {
    const std::size_t begin = begin_of(size_, part, parts);
    const std::size_t rows = end_of(size_, part, parts) - begin;
    if (rows == 0) return;
    miniapps::multiply(rows, size_, size_, {a_.data() + begin * size_, size_}, {b_.data(), size_},
                       product_.data() + begin * size_);
  }
  [[nodiscard]] double power() const override { return 3; }

 private:
  std::size_t size_ = 0;
  std::vector<float> a_{};
  std::vector<float> b_{};
  std::vector<float> product_{};
};
#endif

#if TUTTI_HAS_TRAINING
/// Bags of one pool of random indices, again and again. The table is larger than most caches.
class EmbeddingComputation final : public Computation {
 public:
  EmbeddingComputation() : weights_(nullptr, MemorySpace::host, rows * dim * sizeof(float)), pooled_(pool * dim) {
    std::memset(weights_.data(), 0, weights_.size());
    for (std::size_t i = 0; i < pool * bag; ++i)
      indices_.push_back(static_cast<std::int64_t>(miniapps::mix_counter(i) % rows));
    for (std::size_t i = 0; i <= pool; ++i) offsets_.push_back(static_cast<std::int64_t>(i * bag));
  }
  void resize(std::size_t size) override { size_ = size; }
  void run(int part, int parts) override {
    const std::size_t end = end_of(size_, part, parts);
    for (std::size_t at = begin_of(size_, part, parts); at < end;) {
      const std::size_t bags = std::min(end - at, pool - at % pool);
      look_up(at % pool, bags);
      at += bags;
    }
  }

 private:
  static constexpr std::size_t rows = std::size_t{1} << 18U;
  static constexpr std::size_t dim = 64;
  static constexpr std::size_t bag = 32;
  static constexpr std::size_t pool = std::size_t{1} << 14U;

  void look_up(std::size_t first, std::size_t bags) {
    const kernels::EmbeddingTable table{weights_.data(), DatatypeKind::float32, rows, dim, dim};
    const kernels::TableLookups lookups{indices_.data(), offsets_.data() + first};
    const kernels::Pooled<float> output{pooled_.data(), dim};
    kernels::EmbeddingOptions options;
    options.indices_checked = true;
    (void)kernels::embedding_bag_forward({&table, 1}, {&lookups, 1}, kernels::IndexType::int64, bags, {&output, 1},
                                         options);
  }

  std::size_t size_ = 0;
  Memory weights_;
  std::vector<float> pooled_;
  std::vector<std::int64_t> indices_{};
  std::vector<std::int64_t> offsets_{};
};
#endif

}  // namespace

const char* beside_name(Beside beside) {
  switch (beside) {
    case Beside::gemm:
      return "gemm";
    case Beside::embedding:
      return "embedding";
    case Beside::copy:
      return "copy";
    default:
      return "nothing";
  }
}

std::string why_no_computation(Beside beside) {
#if !TUTTI_HAVE_BLAS
  if (beside == Beside::gemm)
    return "--beside gemm: this program is built without a BLAS; install OpenBLAS (libopenblas-dev) and build it "
           "again, or pass copy";
#endif
#if !TUTTI_HAS_TRAINING
  if (beside == Beside::embedding)
    return "--beside embedding: this library is built without its kernels for embedding tables; build it with "
           "TUTTI_ENABLE_TRAINING, or pass copy";
#endif
  (void)beside;
  return {};
}

std::size_t most_beside_size(Beside beside) {
  return beside == Beside::gemm ? 16384 : beside == Beside::embedding ? std::size_t{1} << 30U : std::size_t{1} << 40U;
}

std::unique_ptr<Computation> make_computation(Beside beside) {
#if TUTTI_HAVE_BLAS
  if (beside == Beside::gemm) return std::make_unique<GemmComputation>();
#endif
#if TUTTI_HAS_TRAINING
  if (beside == Beside::embedding) return std::make_unique<EmbeddingComputation>();
#endif
  if (beside == Beside::copy) return std::make_unique<CopyComputation>();
  throw std::invalid_argument(why_no_computation(beside));
}

std::size_t next_size(std::size_t size, double seconds, double wanted, double power, std::size_t most) {
  constexpr double most_at_once = 64;
  const double ratio = std::clamp(wanted / std::max(seconds, 1e-9), 1 / most_at_once, most_at_once);
  const double next = std::round(static_cast<double>(size) * std::pow(ratio, 1 / power));
  return static_cast<std::size_t>(std::clamp(next, 1.0, static_cast<double>(most)));
}

}  // namespace tutti::commbench
