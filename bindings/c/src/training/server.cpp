// SPDX-License-Identifier: BSD-3-Clause
#include "training_handles.hpp"

using namespace tutti::c;
using tutti::ParameterServer;

namespace {

ParameterServer& server_of(tutti_server_t server) { return whole(server, "server").server; }

}  // namespace

int tutti_server_create(tutti_comm_t comm, int64_t rows, size_t dim, const tutti_server_options_t* given,
                        tutti_server_t* server) {
  return guard([&] {
    tutti_server_t& place = output(server, "server");
    place = nullptr;
    place = make_handle<tutti_server_t>(ServerRecord{ParameterServer(communicator(comm), rows, dim, options(given))});
  });
}

int tutti_server_pull(tutti_server_t server, const int64_t* rows, size_t count, float* values) {
  return guard([&] {
    const ParameterServer& whole_server = server_of(server);
    whole_server.pull(elements(rows, count, "rows"), elements(values, blocks(count, whole_server.dim()), "values"));
  });
}

int tutti_server_push(tutti_server_t server, const int64_t* rows, size_t count, const float* gradients,
                      double learning_rate) {
  return guard([&] {
    ParameterServer& whole_server = server_of(server);
    whole_server.push(elements(rows, count, "rows"),
                      elements(gradients, blocks(count, whole_server.dim()), "gradients"),
                      static_cast<float>(learning_rate));
  });
}

int tutti_server_fence(tutti_server_t server) {
  return guard([&] { server_of(server).fence(); });
}

int tutti_server_progress(tutti_server_t server) {
  return guard([&] { server_of(server).progress(); });
}

int tutti_server_local(tutti_server_t server, float** data, int64_t* first, size_t* count) {
  return guard([&] {
    output(data, "data") = nullptr;
    output(first, "first") = 0;
    output(count, "count") = 0;
    ParameterServer& whole_server = server_of(server);
    *data = whole_server.local().data();
    *first = whole_server.first_row();
    *count = whole_server.local().size() / whole_server.dim();
  });
}

int tutti_server_shape(tutti_server_t server, int64_t* rows, size_t* dim) {
  return guard([&] {
    output(rows, "rows") = 0;
    output(dim, "dim") = 0;
    *rows = server_of(server).rows();
    *dim = server_of(server).dim();
  });
}

const char* tutti_server_path(tutti_server_t server) {
  const auto* found = HandleKind<tutti_server_t>::table.find(reinterpret_cast<std::uintptr_t>(server));
  if (found == nullptr) return "";
  return found->server.path() == std::string_view("direct") ? "direct" : "mpi";
}

int tutti_server_free(tutti_server_t* server) { return free_handle(server, "server"); }
