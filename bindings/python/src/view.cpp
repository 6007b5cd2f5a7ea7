// SPDX-License-Identifier: BSD-3-Clause
#include "view.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <tutti/error.hpp>
#include <tutti/layout.hpp>
#include <utility>

#include "dlpack.hpp"
#include "element_types.hpp"

namespace nb = nanobind;

namespace tutti::python {

/// What keeps the memory alive, where it is not a Py_buffer.
struct View::Holder {
  nb::object object{};  ///< also DLPack's capsule: some producers free the tensor's description with it
  dlpack::Managed* managed = nullptr;
  dlpack::ManagedVersioned* versioned = nullptr;

  Holder() = default;
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
    if (versioned != nullptr && versioned->deleter != nullptr) versioned->deleter(versioned);
  }
};

namespace {

constexpr std::size_t most_dimensions = 15;

/// Shape and strides, in bytes, of an array; without strides it is C-contiguous.
struct Shape {
  std::array<std::size_t, most_dimensions> extents{};
  std::array<std::ptrdiff_t, most_dimensions> strides{};
  std::size_t dimensions = 0;
  bool has_strides = false;

  void add(std::int64_t extent, const char* argument) {
    if (dimensions == most_dimensions)
      throw Error(ErrorCode::invalid_argument,
                  std::string("argument ") + argument + " has more than 15 dimensions; reshape it to fewer");
    extents[dimensions++] = static_cast<std::size_t>(extent);
  }
  [[nodiscard]] std::size_t elements() const {
    std::size_t n = 1;
    for (std::size_t i = 0; i < dimensions; ++i) n *= extents[i];
    return n;
  }
  [[nodiscard]] bool is_contiguous(std::size_t size) const {
    auto expected = static_cast<std::ptrdiff_t>(size);
    for (std::size_t i = dimensions; has_strides && i-- > 0; expected *= static_cast<std::ptrdiff_t>(extents[i]))
      if (extents[i] != 1 && strides[i] != expected) return elements() == 0;
    return true;
  }
};

/// The buffer of an array that may have gaps.
Buffer place(void* data, Datatype type, MemoryKind kind, Shape& shape, const char* argument) {
  const auto size = static_cast<std::ptrdiff_t>(type.size());
  if (shape.is_contiguous(type.size())) return {data, shape.elements(), type, kind};
  for (std::size_t i = 0; i < shape.dimensions; ++i) {
    if (shape.strides[i] % size != 0)
      throw Error(ErrorCode::invalid_argument,
                  std::string("argument ") + argument +
                      " has strides that are no multiple of its elements' size; pass numpy.ascontiguousarray of it");
    shape.strides[i] /= size;
  }
  const Layout layout = Layout::strided(std::span(shape.extents).first(shape.dimensions),
                                        std::span(shape.strides).first(shape.dimensions));
  return {data, 1, type, layout, kind};
}

[[noreturn]] void refuse_read_only(const char* argument) {
  throw Error(
      ErrorCode::invalid_argument,
      std::string("argument ") + argument +
          " is written by the call, but its memory is read-only; pass an array that may be written (a JAX array "
          "or bytes object never may: copy it by numpy.array)");
}

MemoryKind kind_of(dlpack::Device device) {
  switch (device.type) {
    case dlpack::DeviceType::cpu:
      return MemoryKind::host;
    case dlpack::DeviceType::cuda:
      return MemoryKind::device;
    case dlpack::DeviceType::cuda_host:
      return MemoryKind::pinned;
    case dlpack::DeviceType::cuda_managed:
      return MemoryKind::managed;
  }
  throw nb::type_error("the array is on a device that is neither a processor nor a CUDA GPU");
}

/// JAX arrays never change, but their DLPack says so in its newest versions only.
bool is_of_jax(nb::handle object) {
  const nb::object module = nb::getattr(object.type(), "__module__", nb::none());
  return nb::isinstance<nb::str>(module) && std::string_view(nb::str(module).c_str()).starts_with("jax");
}

}  // namespace

/// Reads what objects say of their memory.
struct Reader {
  View& view;
  nb::handle object;
  bool writes;
  const char* argument;

  View::Holder& holder() const {
    if (!view.holder_) view.holder_ = std::make_unique<View::Holder>();
    return *view.holder_;
  }

  /// NumPy and ml_dtypes refuse some types here, which their array interface has.
  bool by_buffer_protocol() const {
    if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
    if (PyObject_GetBuffer(object.ptr(), &view.python_, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
      if (PyErr_ExceptionMatches(PyExc_ValueError) == 0 && PyErr_ExceptionMatches(PyExc_BufferError) == 0)
        nb::raise_python_error();
      PyErr_Clear();
      return false;
    }
    view.has_python_ = true;
    const Py_buffer& python = view.python_;
    if (writes && python.readonly != 0) refuse_read_only(argument);
    const auto size = static_cast<std::size_t>(python.itemsize);
    const Datatype type = type_of_format(python.format, size);
    if (PyBuffer_IsContiguous(&python, 'C') != 0) {
      view.buffer_ = Buffer(python.buf, static_cast<std::size_t>(python.len) / (size == 0 ? 1 : size), type);
      return true;
    }
    Shape shape;
    shape.has_strides = true;
    for (int i = 0; i < python.ndim; ++i) {
      shape.add(python.shape[i], argument);
      shape.strides[static_cast<std::size_t>(i)] = python.strides[i];
    }
    view.buffer_ = place(python.buf, type, MemoryKind::detect, shape, argument);
    return true;
  }

  void take(const dlpack::Tensor& tensor, bool read_only) const {
    if (writes && (read_only || is_of_jax(object))) refuse_read_only(argument);
    const Datatype type = type_of_dlpack(tensor.dtype);
    Shape shape;
    shape.has_strides = tensor.strides != nullptr;
    for (std::int32_t i = 0; i < tensor.ndim; ++i) {
      shape.add(tensor.shape[i], argument);
      if (shape.has_strides)
        shape.strides[static_cast<std::size_t>(i)] = tensor.strides[i] * static_cast<std::ptrdiff_t>(type.size());
    }
    auto* data = tensor.data == nullptr ? nullptr : static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
    view.buffer_ = place(data, type, kind_of(tensor.device), shape, argument);
  }

  /// Asks for no synchronisation (stream -1): the call's stream orders it.
  nb::object capsule() const {
    const nb::object export_ = object.attr("__dlpack__");
    const nb::tuple device = nb::borrow<nb::tuple>(object.attr("__dlpack_device__")());
    const bool on_host = nb::cast<int>(nb::int_(device[0])) == static_cast<int>(dlpack::DeviceType::cpu);
    nb::dict arguments;
    if (!on_host) arguments["stream"] = -1;
    arguments["max_version"] = nb::make_tuple(1, 0);
    try {
      return export_(**arguments);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
    }
    // Older than DLPack 1.0.
    return on_host ? export_() : export_(nb::arg("stream") = -1);
  }

  /// The producer's table of functions describes a tensor in a tenth of the time. It does not refuse what a description
  /// loses, as the method does: gradients, and the mark of conjugated numbers.
  bool by_exchange_api() const {
    const nb::object found = nb::getattr(object.type(), "__dlpack_c_exchange_api__", nb::none());
    if (PyCapsule_IsValid(found.ptr(), "dlpack_exchange_api") == 0) return false;
    const auto* api = static_cast<dlpack::ExchangeApi*>(PyCapsule_GetPointer(found.ptr(), "dlpack_exchange_api"));
    if (api->major != 1 || nb::getattr(object, "requires_grad", nb::none()).is(nb::handle(Py_True))) return false;
    dlpack::ManagedVersioned* tensor = nullptr;
    if (api->from_object(object.ptr(), &tensor) != 0) {
      PyErr_Clear();
      return false;
    }
    holder().versioned = tensor;
    if (tensor->tensor.dtype.code == dlpack::TypeCode::complex) {
      view.holder_.reset();
      return false;
    }
    take(tensor->tensor, (tensor->flags & dlpack::read_only) != 0);
    return true;
  }

  bool by_dlpack() const {
    if (!nb::hasattr(object, "__dlpack__") || !nb::hasattr(object, "__dlpack_device__")) return false;
    const nb::object package = capsule();
    if (PyCapsule_IsValid(package.ptr(), "dltensor_versioned") != 0) {
      auto* tensor = static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(package.ptr(), "dltensor_versioned"));
      if (tensor->major != 1) throw nb::type_error("the array's DLPack is of another major version than 1");
      PyCapsule_SetName(package.ptr(), "used_dltensor_versioned");
      holder().versioned = tensor;
      holder().object = package;
      take(tensor->tensor, (tensor->flags & dlpack::read_only) != 0);
    } else {
      auto* tensor = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(package.ptr(), "dltensor"));
      if (tensor == nullptr) nb::raise_python_error();
      PyCapsule_SetName(package.ptr(), "used_dltensor");
      holder().managed = tensor;
      holder().object = package;
      take(tensor->tensor, false);
    }
    return true;
  }

  /// CUDA's and NumPy's interfaces are dictionaries of the same keys.
  bool by_array_interface(const char* attribute, MemoryKind kind) const {
    const nb::object found = nb::getattr(object, attribute, nb::none());
    if (!nb::isinstance<nb::dict>(found)) return false;
    const auto facts = nb::borrow<nb::dict>(found);
    const auto data = nb::cast<nb::tuple>(facts["data"]);
    if (writes && nb::cast<bool>(data[1])) refuse_read_only(argument);
    const nb::object dtype = nb::getattr(object, "dtype", nb::none());
    const nb::object name = nb::str(nb::getattr(dtype, "name", nb::str("")));
    const Datatype type = type_of_array_interface(nb::cast<nb::str>(facts["typestr"]).c_str(), nb::str(name).c_str());
    Shape shape;
    for (const nb::handle extent : nb::cast<nb::tuple>(facts["shape"]))
      shape.add(nb::cast<std::int64_t>(extent), argument);
    const nb::object strides = facts.contains("strides") ? nb::object(facts["strides"]) : nb::none();
    shape.has_strides = !strides.is_none();
    std::size_t i = 0;
    if (shape.has_strides)
      for (const nb::handle stride : nb::cast<nb::tuple>(strides))
        shape.strides[i++] = nb::cast<std::ptrdiff_t>(stride);
    holder().object = nb::borrow(object);
    view.buffer_ = place(reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0])), type, kind, shape, argument);
    return true;
  }
};

View::View() noexcept = default;

View::View(nb::handle object, Use use, const char* argument) {
  if (object.is(in_place_object())) {
    buffer_ = Buffer(in_place);
    return;
  }
  const Reader reader{*this, object, use == Use::write, argument};
  try {
    if (reader.by_buffer_protocol() || reader.by_array_interface("__array_interface__", MemoryKind::detect) ||
        reader.by_exchange_api() || reader.by_dlpack() ||
        reader.by_array_interface("__cuda_array_interface__", MemoryKind::device))
      return;
  } catch (...) {
    if (has_python_) PyBuffer_Release(&python_);
    throw;
  }
  const std::string type = nb::str(nb::getattr(object.type(), "__name__")).c_str();
  throw nb::type_error((std::string("argument ") + argument + " is of type " + type +
                        ", which has no memory to share: pass an object with the buffer protocol, DLPack or "
                        "__cuda_array_interface__, such as a NumPy array or a PyTorch tensor")
                           .c_str());
}

View::~View() {
  if (has_python_) PyBuffer_Release(&python_);
}

View::View(View&& other) noexcept
    : buffer_(std::move(other.buffer_)),
      holder_(std::move(other.holder_)),
      python_(other.python_),
      has_python_(std::exchange(other.has_python_, false)) {}

View& View::operator=(View&& other) noexcept {
  if (this == &other) return *this;
  if (has_python_) PyBuffer_Release(&python_);
  buffer_ = std::move(other.buffer_);
  holder_ = std::move(other.holder_);
  python_ = other.python_;
  has_python_ = std::exchange(other.has_python_, false);
  return *this;
}

const Buffer& View::contiguous(const char* argument) const {
  if (buffer_.layout != nullptr)
    throw Error(ErrorCode::invalid_argument,
                std::string("argument ") + argument + " is not C-contiguous; pass numpy.ascontiguousarray of it");
  return buffer_;
}

namespace {

struct InPlaceMark {};
nb::handle the_mark;

}  // namespace

nb::handle in_place_object() noexcept { return the_mark; }

void bind_in_place(nb::module_& module) {
  nb::class_<InPlaceMark>(module, "InPlace", "The type of IN_PLACE.").def("__repr__", [](const InPlaceMark&) {
    return "tutti.IN_PLACE";
  });
  the_mark = nb::cast(InPlaceMark{}).release();
  module.attr("IN_PLACE") = the_mark;
}

}  // namespace tutti::python
