// SPDX-License-Identifier: BSD-3-Clause
#include "device_engine.hpp"

#include <bit>
#include <thread>
#include <tutti/collectives/allreduce.hpp>

#include "../agreed.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

constexpr std::size_t slots = 2;

mini::device::Float32Products float32_products(bool tf32) {
  return tf32 ? mini::device::Float32Products::tf32 : mini::device::Float32Products::exact;
}

}  // namespace

DeviceEngine::DeviceEngine(const tutti::Communicator& comm, const Gpu& gpu, Model& model,
                           const DeviceEngineOptions& options)
    : comm_(&comm),
      gpu_(&gpu),
      model_(&model),
      options_(options),
      max_samples_((model.shape().max_batch + static_cast<std::size_t>(comm.size()) - 1) /
                   static_cast<std::size_t>(comm.size())),
      products_(gpu.stream(), float32_products(options.tf32)),
      dense_(gpu, model),
      bottom_(mini::device::make_stack(
          {{model.bottom().layers(), dense_.parameters(DenseStage::bottom), dense_.gradients(DenseStage::bottom)},
           max_samples_},
          options.bfloat16, products_, gpu.stream())),
      top_(mini::device::make_stack(
          {{model.top().layers(), dense_.parameters(DenseStage::top), dense_.gradients(DenseStage::top)}, max_samples_},
          options.bfloat16, products_, gpu.stream())),
      interaction_(model.shape().interaction,
                   {{model.interaction().maps(), dense_.parameters(DenseStage::interaction),
                     dense_.gradients(DenseStage::interaction)},
                    max_samples_},
                   options.bfloat16, products_, gpu),
      features_(model.shape().rows.size() + 1),
      feature_gradients_(features_.size()),
      crossed_(max_samples_ * model.interaction().width()),
      crossed_gradient_(crossed_.size()),
      bottom_gradient_(max_samples_ * model.shape().dim),
      prediction_gradient_(max_samples_),
      loss_partials_(mini::device::loss_partials),
      loss_sum_(1),
      loss_on_host_(1),
      predictions_(max_samples_) {
  for (std::size_t i = 0; i < slots; ++i) {
    batches_.emplace_back(gpu, copies_.stream(), max_samples_, model.bottom().input_width());
    graphs_.emplace_back(gpu);
  }
  tutti::clear_bytes(loss_sum_.data(), loss_sum_.bytes(), gpu.call_stream());
  if (comm.size() > 1) {
    dense_comm_ = comm.split(0, comm.rank());
    dense_comm_->prepare_device();
  }
}

DeviceEngine::~DeviceEngine() {
  drop_graphs();
  try {
    gpu_->wait();
  } catch (const tutti::Error&) {  // NOLINT(bugprone-empty-catch): a device that failed uses nothing any more
  }
}

void DeviceEngine::drop_graphs() {
  for (StepGraph& graph : graphs_) {
    graph.drop();
  }
}

void DeviceEngine::begin_input(const mini::Batch& batch, const std::string& local_error, std::size_t slot) {
  auto& embeddings = model_->embeddings();
  embeddings.start_input(slot, make_input(embeddings, batch, local_error, lookups_[slot]));
}

void DeviceEngine::load(const mini::Batch& batch, const std::string& local_error) {
  const bool is_begun = ahead_ && ahead_->batch == &batch;
  if (is_begun) {
    slot_ = ahead_->slot;
    ahead_.reset();
  } else if (!ahead_) {
    slot_ = (slot_ + 1) % slots;
  }
  agreed([&] {
    if (!is_begun) begin_input(batch, local_error, slot_);
    model_->embeddings().finish_input(slot_);
  });
  batches_[slot_].upload(batch);
}

void DeviceEngine::prefetch(const mini::Batch& batch, const std::string& local_error) {
  ahead_ = Ahead{&batch, (slot_ + 1) % slots};
  begin_input(batch, local_error, ahead_->slot);
}

void DeviceEngine::start_sum(DenseStage stage) {
  const auto gradients = dense_.gradients_of(stage);
  if (!dense_comm_ || gradients.empty()) return;
  sums_[static_cast<std::size_t>(stage)] =
      tutti::iallreduce(*dense_comm_, tutti::Buffer(gradients), tutti::sum,
                        {.stream = gpu_->call_stream(), .memory = tutti::MemoryKind::device});
}

void DeviceEngine::finish_sums() {
  for (tutti::Request& sum : sums_) {
    sum.wait(gpu_->call_stream());
  }
}

const float* DeviceEngine::enqueue_forward(std::size_t samples) {
  auto& embeddings = model_->embeddings();
  embeddings.look_up(slot_);
  embeddings.send_vectors(slot_);
  features_[0] = {bottom_->forward(batches_[slot_].features(), samples), model_->shape().dim};
  feature_gradients_[0] = {bottom_gradient_.data(), model_->shape().dim};
  const auto& vectors = embeddings.finish_forward(slot_);
  const auto& gradients = embeddings.gradients(slot_);
  std::copy(vectors.begin(), vectors.end(), features_.begin() + 1);
  std::copy(gradients.begin(), gradients.end(), feature_gradients_.begin() + 1);
  interaction_.forward(samples, features_, crossed_.data());
  return top_->forward(crossed_.data(), samples);
}

void DeviceEngine::enqueue_backward(std::size_t samples, float rate) {
  auto& embeddings = model_->embeddings();
  top_->backward(crossed_.data(), prediction_gradient_.data(), crossed_gradient_.data(), {});
  start_sum(DenseStage::top);
  interaction_.backward(samples, features_, crossed_gradient_.data(), feature_gradients_);
  embeddings.start_backward(slot_);
  start_sum(DenseStage::interaction);
  bottom_->backward(batches_[slot_].features(), bottom_gradient_.data(), nullptr, {});
  start_sum(DenseStage::bottom);
  embeddings.receive_gradients(slot_);
  embeddings.update(slot_, rate);
  finish_sums();
  dense_.update(rate, embeddings.steps());
}

void DeviceEngine::enqueue_step(const mini::Batch& batch, float rate) {
  const std::size_t samples = batch.range.size();
  const float* predictions = enqueue_forward(samples);
  mini::device::loss(options_.loss, predictions, batches_[slot_].labels(), samples, batch.count,
                     prediction_gradient_.data(), loss_partials_.data(), loss_sum_.data(), gpu_->stream());
  enqueue_backward(samples, rate);
}

std::span<const float> DeviceEngine::predict(const mini::Batch& batch, PhaseTimer& timer,
                                             const std::string& local_error) {
  timer.enter(Stage::input);
  load(batch, local_error);
  // Memory that the kernels of a graph use may move when others run.
  drop_graphs();
  const std::size_t samples = batch.range.size();
  const float* predictions = enqueue_forward(samples);
  batches_[slot_].note_use();
  tutti::copy_bytes(predictions_.data(), predictions, samples * sizeof(float), gpu_->call_stream());
  gpu_->wait();
  return predictions_.span().first(samples);
}

void DeviceEngine::start_step(const mini::Batch& batch, PhaseTimer& timer, const std::string& local_error) {
  timer.enter(Stage::input);
  load(batch, local_error);
}

std::uint64_t DeviceEngine::key_of(float rate) const {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ULL;
  return model_->embeddings().graph_key(slot_) ^ (odd * std::bit_cast<std::uint32_t>(rate));
}

/// Whether a launch of NCCL is captured must be the same on all ranks. Where they differ all run directly, which drops
/// every graph: graphs that exist come from a common capture.
StepGraph::Mode DeviceEngine::agreed_mode(StepGraph::Mode mine) const {
  if (comm_->size() == 1) return mine;
  const auto word = static_cast<std::int64_t>(mine);
  std::array<std::int64_t, 2> least{word, -word};
  auto request = tutti::iallreduce(*comm_, least, tutti::min, {.memory = tutti::MemoryKind::host});
  // A rank that is behind waits for this one's part of the steps before: they are polled meanwhile.
  while (!request.test()) {
    (void)tutti::is_idle(gpu_->call_stream());
    std::this_thread::yield();
  }
  return least[0] == -least[1] ? mine : StepGraph::Mode::direct;
}

void DeviceEngine::finish_step(const mini::Batch& batch, float rate, PhaseTimer& timer) {
  timer.enter_other();
  model_->load_meter().look(model_->embeddings(), slot_);
  StepGraph& graph = graphs_[slot_];
  const std::uint64_t key = options_.graph ? key_of(rate) : 0;
  const auto mode = options_.graph ? agreed_mode(graph.mode(key)) : StepGraph::Mode::direct;
  switch (mode) {
    case StepGraph::Mode::direct:
      drop_graphs();
      enqueue_step(batch, rate);
      graph.note_direct(key);
      break;
    case StepGraph::Mode::captured:
      graph.capture(key, [&] { enqueue_step(batch, rate); });
      break;
    case StepGraph::Mode::launched:
      graph.launch();
      model_->embeddings().note_graph_step(slot_);
      break;
  }
  graph_steps_ += mode == StepGraph::Mode::direct ? 0 : 1;
  batches_[slot_].note_use();
}

double DeviceEngine::take_loss() {
  tutti::copy_bytes(loss_on_host_.data(), loss_sum_.data(), loss_sum_.bytes(), gpu_->call_stream());
  tutti::clear_bytes(loss_sum_.data(), loss_sum_.bytes(), gpu_->call_stream());
  gpu_->wait();
  return *loss_on_host_.data();
}

void DeviceEngine::keep_parameters(bool keep) {
  bottom_->keep_parameters(keep);
  interaction_.keep_parameters(keep);
  top_->keep_parameters(keep);
}

}  // namespace dlrm
