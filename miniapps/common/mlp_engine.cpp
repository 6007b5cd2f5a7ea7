// SPDX-License-Identifier: BSD-3-Clause
#include "mlp_engine.hpp"

#include <tutti/error.hpp>

#include "mlp_blas.hpp"
#if defined(TUTTI_HAVE_ONEDNN)
#include "mlp_onednn.hpp"
#endif

namespace tutti::miniapps {

#if defined(TUTTI_HAVE_ONEDNN)

bool has_onednn() { return true; }

namespace {

void check_bf16() {
  using Type = dnnl::memory::data_type;
  try {
    const OneDnnLayer probe({16, 16, 16}, {Type::bf16, Type::bf16, Type::f32});
  } catch (const dnnl::error&) {
    throw Error(ErrorCode::not_supported,
                "products in bf16: oneDNN has none for this processor, which needs AVX-512; use fp32");
  }
}

std::unique_ptr<MlpEngine<float>> onednn(Products products, const DenseBlock<float>& block) {
  if (products == Products::onednn_bf16) {
    check_bf16();
    return std::make_unique<OneDnnMlpEngine<bfloat16_t>>(block);
  }
  return std::make_unique<OneDnnMlpEngine<float>>(block);
}

}  // namespace

#else

bool has_onednn() { return false; }

namespace {

std::unique_ptr<MlpEngine<float>> onednn(Products, const DenseBlock<float>&) {
  throw Error(ErrorCode::not_supported,
              "products by oneDNN: this program is built without it; install it (Debian: libdnnl-dev) and build again");
}

}  // namespace

#endif

template <>
std::unique_ptr<MlpEngine<float>> make_mlp_engine(Products products, const DenseBlock<float>& block) {
  if (products == Products::blas || (products == Products::automatic && !has_onednn())) {
    return std::make_unique<BlasMlpEngine<float>>(block);
  }
  return onednn(products, block);
}

template <>
std::unique_ptr<MlpEngine<double>> make_mlp_engine(Products products, const DenseBlock<double>& block) {
  if (products == Products::onednn || products == Products::onednn_bf16) {
    throw Error(ErrorCode::not_supported, "products by oneDNN: there are none in double precision; use the BLAS");
  }
  return std::make_unique<BlasMlpEngine<double>>(block);
}

}  // namespace tutti::miniapps
