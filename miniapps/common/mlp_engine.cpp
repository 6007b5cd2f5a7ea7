// SPDX-License-Identifier: BSD-3-Clause
#include "mlp_engine.hpp"

#include <tutti/error.hpp>

#include "mlp_blas.hpp"
#if defined(TUTTI_HAVE_ONEDNN)
#include "mlp_onednn.hpp"
#endif

namespace tutti::miniapps {

namespace {

#if defined(TUTTI_HAVE_ONEDNN)

constexpr bool has_onednn = true;

/// Asked of oneDNN itself: ONEDNN_MAX_CPU_ISA may hide from it what the processor has.
bool has_bf16() {
  using Type = dnnl::memory::data_type;
  try {
    const OneDnnLayer probe({16, 16, 16}, {Type::bf16, Type::bf16, Type::f32});
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

std::unique_ptr<MlpEngine<float>> onednn(Products products, const DenseBlock<float>& block) {
  if (products == Products::onednn_bf16) return std::make_unique<OneDnnMlpEngine<bfloat16_t>>(block);
  return std::make_unique<OneDnnMlpEngine<float>>(block);
}

#else

constexpr bool has_onednn = false;

bool has_bf16() { return false; }

std::unique_ptr<MlpEngine<float>> onednn(Products, const DenseBlock<float>&) { return nullptr; }

#endif

bool needs_onednn(Products products) { return products == Products::onednn || products == Products::onednn_bf16; }

}  // namespace

std::string lacks(Products products) {
  if (needs_onednn(products) && !has_onednn)
    return "this program is built without oneDNN; install it (Debian: libdnnl-dev) and build again, or use fp32";
  if (products == Products::onednn_bf16 && !has_bf16())
    return "oneDNN has no products in bf16 for this processor: on x86 they need AVX-512, which it lacks or "
           "ONEDNN_MAX_CPU_ISA hides; use fp32";
  return {};
}

template <>
std::unique_ptr<MlpEngine<float>> make_mlp_engine(Products products, const DenseBlock<float>& block) {
  if (const std::string problem = lacks(products); !problem.empty())
    throw Error(ErrorCode::not_supported, "products by oneDNN: " + problem);
  if (products == Products::blas || !has_onednn) return std::make_unique<BlasMlpEngine<float>>(block);
  return onednn(products, block);
}

template <>
std::unique_ptr<MlpEngine<double>> make_mlp_engine(Products products, const DenseBlock<double>& block) {
  if (needs_onednn(products)) {
    throw Error(ErrorCode::not_supported, "products by oneDNN: there are none in double precision; use the BLAS");
  }
  return std::make_unique<BlasMlpEngine<double>>(block);
}

}  // namespace tutti::miniapps
