// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>
#include <tutti/buffer.hpp>

namespace tutti::python {

/// The memory behind a Python object: by the buffer protocol, DLPack, __cuda_array_interface__ or NumPy's
/// __array_interface__, in this order. Holds the object, and so its memory, until the end of its life, which must be
/// under the interpreter's lock. Move-only.
class View {
 public:
  enum class Use { read, write };

  /// Holds nothing, and stands for no elements.
  View() noexcept;
  /// Throws TypeError for an object without memory or of a type that Tutti does not have, and Error(invalid_argument)
  /// for read-only memory that the call would write. `argument` is its name in messages.
  View(nanobind::handle object, Use use, const char* argument);
  ~View();
  View(View&&) noexcept;
  View& operator=(View&&) noexcept;
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  [[nodiscard]] ConstBuffer input() const { return buffer_; }
  [[nodiscard]] const Buffer& output() const { return buffer_; }
  /// The address and number of elements of contiguous memory; throws Error(invalid_argument) for other memory.
  [[nodiscard]] const Buffer& contiguous(const char* argument) const;

 private:
  struct Holder;
  friend struct Reader;
  Buffer buffer_{};
  std::unique_ptr<Holder> holder_{};
  Py_buffer python_{};
  bool has_python_ = false;
};

/// The object that stands for MPI_IN_PLACE.
[[nodiscard]] nanobind::handle in_place_object() noexcept;
void bind_in_place(nanobind::module_& module);

}  // namespace tutti::python
