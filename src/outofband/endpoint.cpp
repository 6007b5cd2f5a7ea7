// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/endpoint.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/process_watch.hpp"
#include "core/random_word.hpp"

namespace tutti::detail::outofband {
namespace {

constexpr std::chrono::milliseconds goodbye_limit{200};
/// Whoever connects must say who it is, so that strangers do not take the descriptors of the program.
constexpr std::chrono::seconds hello_limit{1};
constexpr std::ptrdiff_t most_strangers = 64;
constexpr std::chrono::milliseconds while_strangers{100};  ///< between two looks at them

short wanted(const Link& link) { return static_cast<short>(link.has_unsent() ? POLLIN | POLLOUT : POLLIN); }

}  // namespace

Endpoint& Endpoint::instance() {
  static auto* made = new Endpoint;
  return *made;
}

Card Endpoint::open(std::uint64_t process, std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return card_;
  card_ = Card{.secret = random_word(), .process = process};
  listener_ = Socket::listen(card_.port, problem);
  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (!listener_.valid() || wake_ < 0) {
    card_.port = 0;
    return card_;
  }
  write_own_addresses(card_);
  is_leaving_ = false;
  thread_ = std::thread([this] { run(); });
  return card_;
}

void Endpoint::admit(std::uint64_t token) {
  const std::lock_guard lock(mutex_);
  tokens_.insert(token);
}

void Endpoint::answer_by(Answerer answerer) {
  const std::lock_guard lock(mutex_);
  answerer_ = std::move(answerer);
}

std::string Endpoint::watch(std::span<const Card> group, std::size_t own, std::uint64_t token, Clock::duration limit,
                            Clock::duration patience) {
  std::vector<std::uint64_t> processes;
  const auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  interval_ = std::min(interval_, limit / 4);
  next_beat_ = begin;
  for (std::size_t step = 1; step < group.size(); step *= 2) {
    const Card& card = group[(own + step) % group.size()];
    const bool known = std::any_of(neighbors_.begin(), neighbors_.end(),
                                   [&](const Neighbor& one) { return one.process() == card.process; });
    if (!known) neighbors_.emplace_back(card, Acquaintance{token, card_.process}, limit, begin);
    processes.push_back(card.process);
  }
  while (const Neighbor* missing = unreached(processes)) {
    if (Clock::now() - begin > patience) return fmt::format("no connection to {}", missing->where());
    wake();
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
  return {};
}

const Neighbor* Endpoint::unreached(std::span<const std::uint64_t> processes) const {
  for (const Neighbor& one : neighbors_)
    if (one.state() == Neighbor::State::connecting &&
        std::find(processes.begin(), processes.end(), one.process()) != processes.end())
      return &one;
  return nullptr;
}

void Endpoint::leave() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return;
    is_leaving_ = true;
    wake();
  }
  thread_.join();
  const std::lock_guard lock(mutex_);
  thread_ = std::thread();
  neighbors_.clear();
  guests_.clear();
  tokens_.clear();
  words_.clear();
  listener_.close();
  ::close(wake_);
  wake_ = -1;
}

void Endpoint::run() {
  std::unique_lock lock(mutex_);
  while (!is_leaving_) {
    step(Clock::now());
    answer(lock);
    wait(lock);
  }
  say_goodbye();
}

void Endpoint::step(Clock::time_point now) {
  welcome_new(now);
  std::erase_if(guests_, [this, now](Guest& guest) {
    return !serve(guest) || (guest.process == 0 && now - guest.came > hello_limit);
  });
  std::vector<Frame> heard;
  for (Neighbor& one : neighbors_) {
    one.step(now, heard);
    if (one.is_new()) tell_all_to(one);
  }
  for (const Frame& frame : heard) hear(frame);
  for (const Neighbor& one : neighbors_)
    if (one.state() == Neighbor::State::ended) hear_ended(one.process());
  std::erase_if(neighbors_, [](const Neighbor& one) { return one.is_over(); });
  if (now >= next_beat_) beat(now);
}

bool Endpoint::takes_guests(Clock::time_point now) const {
  const auto is_stranger = [](const Guest& guest) { return guest.process == 0; };
  return now >= deaf_until_ && std::count_if(guests_.begin(), guests_.end(), is_stranger) < most_strangers;
}

void Endpoint::welcome_new(Clock::time_point now) {
  while (takes_guests(now)) {
    Socket socket = listener_.accept();
    if (socket.valid())
      guests_.push_back({Link(std::move(socket)), now});
    else if (Socket::lacks_room())
      deaf_until_ = now + while_strangers;
    else
      return;
  }
}

/// Returns false once a guest has gone, or is none.
bool Endpoint::serve(Guest& guest) {
  std::vector<Frame> frames;
  const bool is_there = guest.link.receive(frames) && guest.link.flush();
  for (const Frame& frame : frames) {
    if (guest.process == 0 && !greet(guest, frame)) return false;
    hear(frame);
    if (frame.kind == Kind::ask)
      guest.asked.emplace_back(reinterpret_cast<const char*>(frame.body.data()), frame.body.size());
  }
  return is_there && guest.link.flush();
}

/// An answer takes long, so that nobody waits for the mutex meanwhile. Guests come and go in this thread alone.
void Endpoint::answer(std::unique_lock<std::mutex>& lock) {
  for (Guest& guest : guests_)
    for (const std::string& question : std::exchange(guest.asked, {})) {
      const Answerer answerer = answerer_;
      lock.unlock();
      const std::string text = answerer ? answerer(question) : std::string();
      lock.lock();
      guest.link.send(Kind::answer, bytes_of(text));
    }
}

bool Endpoint::greet(Guest& guest, const Frame& frame) {
  const auto hello = frame.as<Hello>();
  if (frame.kind != Kind::hello || hello.to != card_.process || !tokens_.contains(hello.token)) return false;
  guest.process = hello.from;
  guest.link.expect(Link::most_bytes);
  guest.link.send(Kind::welcome);
  tell_all_to(guest);
  return true;
}

void Endpoint::beat(Clock::time_point now) {
  next_beat_ = now + interval_;
  for (Guest& guest : guests_)
    if (guest.process != 0) guest.link.send(Kind::beat);
}

void Endpoint::hear(const Frame& frame) {
  if (frame.kind == Kind::ended) hear_ended(frame.as<std::uint64_t>());
  if (frame.kind == Kind::notice) hear(frame.as<Notice>());
}

void Endpoint::hear_ended(std::uint64_t process) {
  if (!ended_.insert(process).second) return;
  ProcessWatch::tell_ended(process);
  pass_on(Kind::ended, process);
}

void Endpoint::hear(const Notice& notice) {
  if (words_.try_emplace({notice.key, notice.place}, notice.word).second) pass_on(Kind::notice, notice);
}

/// What is new is told to all, so that it reaches all.
template <typename T>
void Endpoint::pass_on(Kind kind, const T& value) {
  for (Neighbor& one : neighbors_) one.tell(kind, value);
  for (Guest& guest : guests_) guest.tell(kind, value);
}

/// For a new connection, which may take the place of one that broke.
template <typename Other>
void Endpoint::tell_all_to(Other& other) const {
  for (const std::uint64_t process : ended_) other.tell(Kind::ended, process);
  for (const auto& [where, word] : words_) other.tell(Kind::notice, Notice{where.first, where.second, word});
}

void Endpoint::say(const Notice& notice) {
  const std::lock_guard lock(mutex_);
  hear(notice);
  wake();
}

std::uint64_t Endpoint::heard(std::uint64_t key, std::uint64_t place) {
  const std::lock_guard lock(mutex_);
  const auto found = words_.find({key, place});
  return found == words_.end() ? 0 : found->second;
}

void Endpoint::say_goodbye() {
  pass_on(Kind::left, card_.process);
  const auto end = Clock::now() + goodbye_limit;
  bool is_sent = false;
  while (!is_sent && Clock::now() < end) {
    is_sent = true;
    for (Guest& guest : guests_) is_sent = (!guest.link.flush() || !guest.link.has_unsent()) && is_sent;
    if (!is_sent) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Endpoint::wait(std::unique_lock<std::mutex>& lock) {
  constexpr std::chrono::milliseconds while_connecting{10};
  const bool takes_guests = this->takes_guests(Clock::now());
  std::vector<pollfd> files{{wake_, POLLIN, 0}, {takes_guests ? listener_.descriptor() : -1, POLLIN, 0}};
  Clock::duration timeout = interval_ / 2;
  if (!takes_guests) timeout = std::min<Clock::duration>(timeout, while_strangers);
  for (const Guest& guest : guests_) {
    if (guest.process == 0) timeout = std::min<Clock::duration>(timeout, while_strangers);
    files.push_back({guest.link.descriptor(), wanted(guest.link), 0});
  }
  for (const Neighbor& one : neighbors_) {
    if (one.link() != nullptr) files.push_back({one.link()->descriptor(), wanted(*one.link()), 0});
    if (one.state() != Neighbor::State::up) timeout = std::min<Clock::duration>(timeout, while_connecting);
  }
  lock.unlock();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
  (void)poll(files.data(), files.size(), static_cast<int>(std::clamp<std::int64_t>(milliseconds, 1, 1000)));
  std::uint64_t count = 0;
  while (read(wake_, &count, sizeof count) > 0) continue;
  lock.lock();
}

void Endpoint::wake() const noexcept {
  const std::uint64_t one = 1;
  (void)!write(wake_, &one, sizeof one);
}

std::optional<std::string> ask(const Card& whom, const Acquaintance& acquaintance, std::string_view question,
                               Clock::duration patience, std::string& problem, const std::atomic<bool>& is_over) {
  const auto end = Clock::now() + patience;
  for (const Address& address : whom.reachable()) {
    Socket socket = Socket::connect(address, whom.port);
    if (!socket.valid()) continue;
    Link link(std::move(socket));
    link.expect(Link::most_bytes);
    link.send(Kind::hello, Hello{acquaintance.token, acquaintance.own, whom.process});
    link.send(Kind::ask, bytes_of(question));
    std::vector<Frame> frames;
    bool is_there = true;
    while (is_there && !is_over && Clock::now() < end) {
      is_there = link.flush() && link.receive(frames);
      for (const Frame& frame : frames)
        if (frame.kind == Kind::answer)
          return std::string(reinterpret_cast<const char*>(frame.body.data()), frame.body.size());
      pollfd file{link.descriptor(), wanted(link), 0};
      if (is_there) (void)poll(&file, 1, 10);
    }
  }
  problem =
      fmt::format("no answer from {} port {}", whom.count == 0 ? "no address" : text(whom.addresses[0]), whom.port);
  return std::nullopt;
}

}  // namespace tutti::detail::outofband
