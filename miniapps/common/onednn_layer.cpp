// SPDX-License-Identifier: BSD-3-Clause
#include "onednn_layer.hpp"

#include <cstdlib>
#include <unordered_map>

#if defined(__GNUC__)
// A function of the OpenMP library that oneDNN was built with, if any.
extern "C" void omp_set_num_threads(int) __attribute__((weak));
#endif

namespace tutti::miniapps {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

struct Runtime {
  dnnl::engine engine;
  dnnl::stream stream;
  Runtime() {
#if defined(__GNUC__)
    if (std::getenv("OMP_NUM_THREADS") == nullptr && &omp_set_num_threads != nullptr) {
      omp_set_num_threads(1);
    }
#endif
    engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
    stream = dnnl::stream(engine);
  }
};

Runtime& runtime() {
  static Runtime all;
  return all;
}

memory::dim dim(std::size_t n) { return static_cast<memory::dim>(n); }

memory::desc matrix(std::size_t rows, std::size_t columns, memory::data_type type, Tag tag = Tag::ab) {
  return {{dim(rows), dim(columns)}, type, tag};
}

/// oneDNN takes operands as non-const memory, also those that it only reads.
memory view(const memory::desc& desc, const void* data) { return {desc, onednn_engine(), const_cast<void*>(data)}; }

void run(const dnnl::primitive& primitive, const std::unordered_map<int, memory>& arguments) {
  primitive.execute(runtime().stream, arguments);
  runtime().stream.wait();
}

using Forward = dnnl::inner_product_forward::primitive_desc;
using BackwardWeights = dnnl::inner_product_backward_weights::primitive_desc;
using BackwardInput = dnnl::inner_product_backward_data::primitive_desc;

// Version 3 of oneDNN describes a primitive in one step, version 2 in two.
#if DNNL_VERSION_MAJOR >= 3

Forward forward_description(const memory::desc& x, const memory::desc& w, const memory::desc& b,
                            const memory::desc& y) {
  return {runtime().engine, dnnl::prop_kind::forward_training, x, w, b, y};
}

BackwardWeights backward_weights_description(const memory::desc& x, const memory::desc& dw, const memory::desc& dz,
                                             const Forward& hint) {
  return {runtime().engine, x, dw, dz, hint};
}

BackwardInput backward_input_description(const memory::desc& dx, const memory::desc& w, const memory::desc& dz,
                                         const Forward& hint) {
  return {runtime().engine, dx, w, dz, hint};
}

#else

Forward forward_description(const memory::desc& x, const memory::desc& w, const memory::desc& b,
                            const memory::desc& y) {
  return {{dnnl::prop_kind::forward_training, x, w, b, y}, runtime().engine};
}

BackwardWeights backward_weights_description(const memory::desc& x, const memory::desc& dw, const memory::desc& dz,
                                             const Forward& hint) {
  return {{x, dw, dz}, runtime().engine, hint};
}

BackwardInput backward_input_description(const memory::desc& dx, const memory::desc& w, const memory::desc& dz,
                                         const Forward& hint) {
  return {{dx, w, dz}, runtime().engine, hint};
}

#endif

}  // namespace

const dnnl::engine& onednn_engine() { return runtime().engine; }

OneDnnLayer::OneDnnLayer(const Shape& s, const Types& t)
    : shape_(s),
      types_(t),
      x_(matrix(s.n, s.in, t.operands)),
      y_(matrix(s.n, s.out, t.output)),
      dz_(matrix(s.n, s.out, t.operands)),
      dx_(matrix(s.n, s.in, t.input_gradient)),
      dw_(matrix(s.out, s.in, memory::data_type::f32)),
      bias_({dim(s.out)}, memory::data_type::f32, Tag::a) {
  const auto& engine = onednn_engine();
  const auto any = matrix(s.out, s.in, t.operands, Tag::any);
  forward_description_ = forward_description(x_, any, bias_, y_);
  forward_ = dnnl::inner_product_forward(forward_description_);
  packed_ = memory(forward_description_.weights_desc(), engine);
  pack_ = dnnl::reorder(memory(dw_, engine, nullptr), packed_);
  backward_weights_ =
      dnnl::inner_product_backward_weights(backward_weights_description(x_, dw_, dz_, forward_description_));
}

void OneDnnLayer::prepare_backward_input() {
  const auto& engine = onednn_engine();
  const auto any = matrix(shape_.out, shape_.in, types_.operands, Tag::any);
  const auto backward = backward_input_description(dx_, any, dz_, forward_description_);
  backward_input_ = dnnl::inner_product_backward_data(backward);
  if (backward.weights_desc() == forward_description_.weights_desc()) {
    packed_backward_ = packed_;
    return;
  }
  packed_backward_ = memory(backward.weights_desc(), engine);
  pack_backward_ = dnnl::reorder(packed_, packed_backward_);
  run(pack_backward_, {{DNNL_ARG_FROM, packed_}, {DNNL_ARG_TO, packed_backward_}});
}

void OneDnnLayer::pack(const float* weights) {
  run(pack_, {{DNNL_ARG_FROM, view(dw_, weights)}, {DNNL_ARG_TO, packed_}});
  if (pack_backward_) {
    run(pack_backward_, {{DNNL_ARG_FROM, packed_}, {DNNL_ARG_TO, packed_backward_}});
  }
}

void OneDnnLayer::forward(const void* x, const float* bias, void* y) {
  run(forward_, {{DNNL_ARG_SRC, view(x_, x)},
                 {DNNL_ARG_WEIGHTS, packed_},
                 {DNNL_ARG_BIAS, view(bias_, bias)},
                 {DNNL_ARG_DST, view(y_, y)}});
}

void OneDnnLayer::backward_weights(const void* x, const void* dz, float* dw) {
  run(backward_weights_,
      {{DNNL_ARG_SRC, view(x_, x)}, {DNNL_ARG_DIFF_DST, view(dz_, dz)}, {DNNL_ARG_DIFF_WEIGHTS, view(dw_, dw)}});
}

void OneDnnLayer::backward_input(const void* dz, void* dx) {
  if (!backward_input_) {
    prepare_backward_input();
  }
  run(backward_input_,
      {{DNNL_ARG_DIFF_DST, view(dz_, dz)}, {DNNL_ARG_WEIGHTS, packed_backward_}, {DNNL_ARG_DIFF_SRC, view(dx_, dx)}});
}

}  // namespace tutti::miniapps
