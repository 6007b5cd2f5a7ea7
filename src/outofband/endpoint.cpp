// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/endpoint.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sodium.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
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

Card Endpoint::open(std::uint64_t process, std::span<const Address> addresses, std::string& problem) try {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) begin(process);
  Card card{.token = token_, .process = process_};
  if (addresses.empty()) problem = "no address of this host is one of the others' networks";
  for (const Address& address : addresses.first(std::min(addresses.size(), Card::most_addresses)))
    if (const auto at = listen(address, problem)) card.addresses[card.count++] = *at;
  if (card.count == 0) return card;
  problem.clear();
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wake();
  return card;
} catch (const std::exception& error) {  // the others wait for the card
  problem = error.what();
  return {};
}

void Endpoint::begin(std::uint64_t process) {
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be used");
  process_ = process;
  token_.name = process;
  for (std::uint64_t& word : token_.secret) word = random_word();
  if (wake_ < 0) wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_ < 0) throw std::runtime_error(fmt::format("no eventfd: {}", std::strerror(errno)));
  is_leaving_ = false;
}

std::optional<SocketAddress> Endpoint::listen(const Address& address, std::string& problem) {
  for (const Listener& one : listeners_)
    if (one.at.address == address) return one.at;
  SocketAddress at;
  Socket socket = Socket::listen(address, at, problem);
  if (!socket.valid()) return std::nullopt;
  listeners_.push_back({at, std::move(socket)});
  return at;
}

void Endpoint::admit(const Token& token) {
  const std::lock_guard lock(mutex_);
  tokens_.insert_or_assign(token.name, token.secret);
}

void Endpoint::answer_by(Answerer answerer) {
  const std::lock_guard lock(mutex_);
  answerer_ = std::move(answerer);
}

std::string Endpoint::watch(std::span<const Card> group, std::size_t own, const Token& token, Clock::duration limit,
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
    if (!known) neighbors_.emplace_back(card, Acquaintance{token, process_}, limit, begin);
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
  listeners_.clear();
  ::close(wake_);
  wake_ = -1;
}

void Endpoint::run() {
  std::unique_lock lock(mutex_);
  while (!is_leaving_) try {
      step(Clock::now());
      answer(lock);
      wait(lock);
    } catch (const std::exception&) {  // there is no memory, say; what others wait for is tried again
      if (lock.owns_lock()) lock.unlock();
      std::this_thread::sleep_for(while_strangers);
      lock.lock();
    }
  say_goodbye();
}

void Endpoint::step(Clock::time_point now) {
  welcome_new(now);
  std::erase_if(guests_, [this, now](Guest& guest) {
    return !serve(guest) || (!guest.is_known() && now - guest.came > hello_limit);
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
  const auto is_stranger = [](const Guest& guest) { return !guest.is_known(); };
  return now >= deaf_until_ && std::count_if(guests_.begin(), guests_.end(), is_stranger) < most_strangers;
}

void Endpoint::welcome_new(Clock::time_point now) {
  for (const Listener& one : listeners_) welcome_new(one, now);
}

void Endpoint::welcome_new(const Listener& listener, Clock::time_point now) {
  while (takes_guests(now)) {
    Socket socket = listener.socket.accept();
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
    if (!guest.is_known()) {
      if (!shake_hands(guest, frame)) return false;
      continue;
    }
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

bool Endpoint::shake_hands(Guest& guest, const Frame& frame) {
  std::optional<Frame> answer;
  if (!guest.handshake.take(frame, tokens_, process_, answer)) return false;
  if (answer) guest.link.send(*answer);
  if (!guest.is_known()) return true;
  guest.link.trust();
  tell_all_to(guest);
  return true;
}

void Endpoint::beat(Clock::time_point now) {
  next_beat_ = now + interval_;
  for (Guest& guest : guests_)
    if (guest.is_known()) guest.link.send(Kind::beat);
}

void Endpoint::hear(const Frame& frame) {
  if (const auto process = frame.as<std::uint64_t>(Kind::ended)) hear_ended(*process);
  if (const auto notice = frame.as<Notice>(Kind::notice)) hear(*notice);
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
  pass_on(Kind::left, process_);
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
  std::vector<pollfd> files{{wake_, POLLIN, 0}};
  for (const Listener& one : listeners_)
    if (takes_guests) files.push_back({one.socket.descriptor(), POLLIN, 0});
  Clock::duration timeout = interval_ / 2;
  if (!takes_guests) timeout = std::min<Clock::duration>(timeout, while_strangers);
  for (const Guest& guest : guests_) {
    if (!guest.is_known()) timeout = std::min<Clock::duration>(timeout, while_strangers);
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

namespace {

/// A connection for one question.
class Question {
 public:
  Question(Socket&& socket, const Acquaintance& acquaintance, std::uint64_t to, std::string_view text)
      : link_(std::move(socket)), handshake_(acquaintance, to), text_(text) {
    link_.send(handshake_.hello());
  }
  /// Moves what can be moved. Returns false once no answer can come.
  [[nodiscard]] bool step() {
    std::vector<Frame> frames;
    const bool is_there = link_.flush() && link_.receive(frames);
    return std::all_of(frames.begin(), frames.end(), [this](const Frame& frame) { return take(frame); }) && is_there;
  }
  void wait() const {
    pollfd file{link_.descriptor(), wanted(link_), 0};
    (void)poll(&file, 1, 10);
  }
  [[nodiscard]] std::optional<std::string>& answer() { return answer_; }

 private:
  [[nodiscard]] bool take(const Frame& frame) {
    if (handshake_.is_welcome()) {
      if (frame.kind == Kind::answer)
        answer_.emplace(reinterpret_cast<const char*>(frame.body.data()), frame.body.size());
      return true;
    }
    std::optional<Frame> answer;
    if (!handshake_.take(frame, answer)) return false;
    if (answer) link_.send(*answer);
    if (!handshake_.is_welcome()) return true;
    link_.trust();
    link_.send(Kind::ask, bytes_of(text_));
    return true;
  }

  Link link_;
  ClientHandshake handshake_;
  std::string_view text_;
  std::optional<std::string> answer_{};
};

}  // namespace

std::optional<std::string> ask(const Card& whom, const Acquaintance& acquaintance, std::string_view question,
                               Clock::duration patience, std::string& problem, const std::atomic<bool>& is_over) {
  const auto end = Clock::now() + patience;
  for (const SocketAddress& address : whom.reachable()) {
    Socket socket = Socket::connect(address);
    if (!socket.valid()) continue;
    Question asked(std::move(socket), acquaintance, whom.process, question);
    bool is_there = true;
    while (is_there && !is_over && Clock::now() < end) {
      is_there = asked.step();
      if (asked.answer()) return std::move(asked.answer());
      if (is_there) asked.wait();
    }
  }
  problem = fmt::format("no answer from {}", text(whom));
  return std::nullopt;
}

}  // namespace tutti::detail::outofband
