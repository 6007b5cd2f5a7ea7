// SPDX-License-Identifier: BSD-3-Clause
#include "workload_shapes.hpp"

#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <tutti/error.hpp>

namespace sgd {

namespace {

/// A convolution and the scale and shift of the normalisation after it.
void add_convolution(std::vector<Shape>& shapes, std::size_t out, std::size_t in, std::size_t kernel) {
  shapes.insert(shapes.end(), {{out, in, kernel, kernel}, {out}, {out}});
}

void add_linear(std::vector<Shape>& shapes, std::size_t out, std::size_t in) {
  shapes.insert(shapes.end(), {{out, in}, {out}});
}

std::vector<Shape> resnet_shapes(const std::array<std::size_t, 4>& blocks, bool bottleneck) {
  std::vector<Shape> shapes;
  add_convolution(shapes, 64, 3, 7);
  std::size_t in = 64;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const std::size_t width = std::size_t{64} << stage;
    const std::size_t out = bottleneck ? 4 * width : width;
    for (std::size_t block = 0; block < blocks[stage]; ++block) {
      if (bottleneck) {
        add_convolution(shapes, width, in, 1);
        add_convolution(shapes, width, width, 3);
        add_convolution(shapes, out, width, 1);
      } else {
        add_convolution(shapes, width, in, 3);
        add_convolution(shapes, out, width, 3);
      }
      if (block == 0 && in != out) {
        add_convolution(shapes, out, in, 1);  // the shortcut
      }
      in = out;
    }
  }
  add_linear(shapes, 1000, in);
  return shapes;
}

}  // namespace

std::vector<Shape> resnet18_shapes() { return resnet_shapes({2, 2, 2, 2}, false); }

std::vector<Shape> resnet50_shapes() { return resnet_shapes({3, 4, 6, 3}, true); }

std::vector<Shape> bert_base_shapes() {
  constexpr std::size_t width = 768;
  constexpr std::size_t inner = 4 * width;
  std::vector<Shape> shapes{{30522, width}, {512, width}, {2, width}, {width}, {width}};
  for (int layer = 0; layer < 12; ++layer) {
    for (int product = 0; product < 4; ++product) {  // query, key, value, output
      add_linear(shapes, width, width);
    }
    shapes.insert(shapes.end(), {{width}, {width}});
    add_linear(shapes, inner, width);
    add_linear(shapes, width, inner);
    shapes.insert(shapes.end(), {{width}, {width}});
  }
  add_linear(shapes, width, width);  // the pooler
  return shapes;
}

std::vector<Shape> workload_shapes(std::string_view name) {
  if (name == "resnet18") return resnet18_shapes();
  if (name == "resnet50") return resnet50_shapes();
  if (name == "bert") return bert_base_shapes();
  throw tutti::Error(tutti::ErrorCode::invalid_argument,
                     "--workload: '" + std::string(name) + "' is not one of resnet18, resnet50, bert");
}

std::size_t elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

std::size_t elements(const std::vector<Shape>& shapes) {
  return std::accumulate(shapes.begin(), shapes.end(), std::size_t{0},
                         [](std::size_t sum, const Shape& shape) { return sum + elements(shape); });
}

}  // namespace sgd
