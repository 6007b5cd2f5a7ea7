// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/checkpoint.hpp>

#include "embedding_handles.hpp"

using namespace tutti::c;

namespace {

int save_rows(tutti_embedding_t collection, const char* folder, tutti::SaveKind kind) {
  return guard([&] {
    const EmbeddingRecord& handle = whole(collection, "collection");
    if (folder == nullptr) throw_null("folder", "pass a path");
    tutti::save_checkpoint(
        *handle.comm, folder, [&](auto& part) { handle.collection.add_to(part); }, kind);
  });
}

int start_saving(tutti_embedding_t collection, const char* folder, tutti::SaveKind kind) {
  return guard([&] {
    EmbeddingRecord& handle = whole(collection, "collection");
    if (folder == nullptr) throw_null("folder", "pass a path");
    handle.save.wait();
    handle.save = tutti::CheckpointSave(
        *handle.comm, folder, [&](auto& part) { handle.collection.add_to(part); }, kind);
  });
}

}  // namespace

int tutti_embedding_save(tutti_embedding_t collection, const char* folder) {
  return save_rows(collection, folder, tutti::SaveKind::full);
}

int tutti_embedding_save_incremental(tutti_embedding_t collection, const char* folder) {
  return save_rows(collection, folder, tutti::SaveKind::incremental);
}

int tutti_embedding_load(tutti_embedding_t collection, const char* folder) {
  return guard([&] {
    EmbeddingRecord& handle = whole(collection, "collection");
    if (folder == nullptr) throw_null("folder", "pass a path");
    tutti::load_checkpoint(*handle.comm, folder, [&](const auto& reader) { handle.collection.load(reader); });
  });
}

int tutti_embedding_start_save(tutti_embedding_t collection, const char* folder) {
  return start_saving(collection, folder, tutti::SaveKind::full);
}

int tutti_embedding_start_save_incremental(tutti_embedding_t collection, const char* folder) {
  return start_saving(collection, folder, tutti::SaveKind::incremental);
}

int tutti_embedding_test_save(tutti_embedding_t collection, int* done) {
  return guard([&] {
    output(done, "done") = 0;
    *done = whole(collection, "collection").save.test() ? 1 : 0;
  });
}

int tutti_embedding_finish_save(tutti_embedding_t collection) {
  return guard([&] { whole(collection, "collection").save.wait(); });
}
