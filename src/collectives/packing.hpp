// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <tutti/buffer.hpp>
#include <vector>

#include "call/context.hpp"
#include "call/execution.hpp"

namespace tutti::detail {

/// What is done on this rank before each run of a call and after it, to memory in the place of the caller's buffers.
class Packing {
 public:
  Packing() = default;
  virtual ~Packing() = default;
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;

  virtual void pack() = 0;
  virtual void unpack() = 0;
  /// Keeps the memory for ever, because other ranks may still use it.
  virtual void give_up() noexcept = 0;
};

/// Contiguous copies of the buffers of one call that have layouts. The call uses the copies.
class BufferCopies final : public Packing {
 public:
  explicit BufferCopies(ContextPtr comm) : comm_(std::move(comm)) {}
  ~BufferCopies() override;
  BufferCopies(const BufferCopies&) = delete;
  BufferCopies& operator=(const BufferCopies&) = delete;

  /// Replaces a buffer by its copy. An output is also copied in before the call if the call reads it.
  void replace(ConstBuffer& buffer);
  void replace(Buffer& buffer, bool is_read, bool is_written);

  /// Copies to the contiguous memory what the call reads, and back what it has written.
  void pack() override;
  void unpack() override;
  void give_up() noexcept override;

 private:
  struct Copy {
    std::shared_ptr<const Grid> layout;
    std::size_t unit = 1;
    const void* from = nullptr;  ///< null: the call does not read it
    void* to = nullptr;          ///< null: the call does not write it
    ScratchPool::Block block;
  };
  void* add(const std::shared_ptr<const Grid>& layout, std::size_t unit, const void* from, void* to);

  ContextPtr comm_;
  std::vector<Copy> copies_;
};

/// An execution with a packing: packs, runs another execution, and unpacks.
class PackedExecution final : public Execution {
 public:
  PackedExecution(ContextPtr comm, std::shared_ptr<Execution> inner, std::unique_ptr<Packing> packing);

  [[nodiscard]] std::string name() const override { return inner_->name(); }
  void announce_backoff() noexcept override { inner_->announce_backoff(); }
  void backoff() noexcept override { inner_->backoff(); }
  [[nodiscard]] bool goes_on_inside_mpi() const noexcept override { return inner_->goes_on_inside_mpi(); }

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;
  [[nodiscard]] bool end();

  std::shared_ptr<Execution> inner_;
  std::unique_ptr<Packing> packing_;
};

}  // namespace tutti::detail
