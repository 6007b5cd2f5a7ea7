// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace tutti::kernelbench {

struct EmbeddingSettings {
  std::size_t tables = 1;
  std::size_t rows = 1000000;
  std::size_t dim = 64;
  std::size_t bag = 32;
  std::size_t batch = 8192;
  double zipf = 0;  ///< exponent of the rows' frequencies; 0: all alike
  std::string type = "float32";
  std::string optimizer = "sgd";
  bool stochastic = false;
  int rounds = 21;
};

struct CombineSettings {
  std::string type = "float32";
  std::string op = "sum";
  std::size_t inputs = 2;
  std::size_t bytes = std::size_t{64} << 20;
  int rounds = 21;
};

struct InteractionSettings {
  std::size_t features = 27;
  std::size_t dim = 16;
  std::size_t batch = 2048;
  int rounds = 21;
};

/// What bounds products of matrices, measured in the same run.
struct LimitSettings {
  std::size_t peak_rows = 1024;  ///< of the square matrices of a large product
  std::size_t copy_bytes = std::size_t{128} << 20;
};

struct GemmSettings {
  std::size_t m = 1024;
  std::size_t n = 1024;
  std::size_t k = 1024;
  std::string type = "float32";
  int rounds = 11;
  LimitSettings limits{};
};

struct MlpSettings {
  std::size_t layers = 18;
  std::size_t input = 1024;
  std::size_t hidden = 1024;
  std::size_t output = 1024;
  std::size_t batch = 128;
  std::string type = "float32";
  int rounds = 11;
  LimitSettings limits{};
};

nlohmann::json run_embedding(const EmbeddingSettings& settings, int rank);
nlohmann::json run_combine(const CombineSettings& settings, int rank);
nlohmann::json run_interaction(const InteractionSettings& settings, int rank);
nlohmann::json run_gemm(const GemmSettings& settings, int rank);
nlohmann::json run_mlp(const MlpSettings& settings, int rank);

}  // namespace tutti::kernelbench
