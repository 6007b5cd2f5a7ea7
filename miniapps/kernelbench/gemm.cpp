// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"
#include "limits.hpp"
#include "product.hpp"

namespace tutti::kernelbench {

nlohmann::json run_gemm(const GemmSettings& s, int /*rank*/) {
  Product product(s.m, s.n, s.k, s.type);
  Product large(s.limits.peak_rows, s.limits.peak_rows, s.limits.peak_rows, s.type);
  Limits limits(
      s.limits, [&] { large.run(); }, large.operations());
  std::vector<Candidate> candidates = limits.candidates();
  candidates.push_back({"gemm", [&](int) { product.run(); }});
  const std::vector<double> seconds = measure(candidates, s.rounds);
  product.verify();
  large.verify();
  limits.take(seconds);
  nlohmann::json result = {{"m", s.m}, {"n", s.n}, {"k", s.k}, {"type", s.type}};
  limits.add_to(result, "gemm", {product.operations(), product.bytes()}, seconds.back());
  limits.add_to(result);
  return result;
}

}  // namespace tutti::kernelbench
