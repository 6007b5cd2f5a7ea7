// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "outofband/card.hpp"
#include "outofband/link.hpp"
#include "outofband/neighbor.hpp"

namespace tutti::detail::outofband {

/// This process's place in a net of TCP connections beside MPI: a thread of its own answers questions of processes that
/// have met this one, and watches for the end of some, which it tells the others. Any thread.
class Endpoint {
 public:
  using Answerer = std::function<std::string(std::string_view)>;

  /// Never destroyed, because MPI may be finalized after the statics.
  [[nodiscard]] static Endpoint& instance();

  /// Opens a port at each of these addresses of this host, and starts the thread at the first call. process: the number
  /// of this process's identity. A card without addresses, and the problem in words, if that fails.
  [[nodiscard]] Card open(std::uint64_t process, std::span<const Address> addresses, std::string& problem);
  /// Lets processes in that prove that they know the token.
  void admit(const Token& token);
  /// Answers the questions of others from now on.
  void answer_by(Answerer answerer);

  /// Watches for the end of those processes of a group that are 1, 2, 4, ... places after this one in it, as each of
  /// the group does, so that the end of any spreads in about log2 steps. Returns "", or the reason why one of them
  /// cannot be reached in that time. limit: without a sign of life.
  [[nodiscard]] std::string watch(std::span<const Card> group, std::size_t own, const Token& token,
                                  Clock::duration limit, Clock::duration patience);

  /// Says a word to all that this process is connected with, and through them to the others of its groups. The first
  /// word of a place counts.
  void say(const Notice& notice);
  /// The word that was heard of a place, or 0.
  [[nodiscard]] std::uint64_t heard(std::uint64_t key, std::uint64_t place);

  /// Tells the others that this process does not die but leaves, and ends the thread.
  void leave() noexcept;

 private:
  struct Listener {
    SocketAddress at;
    Socket socket;
  };
  struct Guest {
    Link link;
    Clock::time_point came;
    ServerHandshake handshake{};
    std::vector<std::string> asked{};  ///< that it waits for
    [[nodiscard]] bool is_known() const noexcept { return handshake.client() != 0; }
    template <typename T>
    void tell(Kind kind, const T& value) {
      if (is_known()) link.send(kind, value);
    }
  };

  void run();
  void step(Clock::time_point now);
  void begin(std::uint64_t process);
  [[nodiscard]] std::optional<SocketAddress> listen(const Address& address, std::string& problem);
  void welcome_new(Clock::time_point now);
  void welcome_new(const Listener& listener, Clock::time_point now);
  [[nodiscard]] bool takes_guests(Clock::time_point now) const;
  void answer(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool serve(Guest& guest);
  [[nodiscard]] bool shake_hands(Guest& guest, const Frame& frame);
  void beat(Clock::time_point now);
  void hear(const Frame& frame);
  void hear_ended(std::uint64_t process);
  void hear(const Notice& notice);
  template <typename T>
  void pass_on(Kind kind, const T& value);
  template <typename Other>
  void tell_all_to(Other& other) const;
  void say_goodbye();
  void wait(std::unique_lock<std::mutex>& lock);
  void wake() const noexcept;
  [[nodiscard]] const Neighbor* unreached(std::span<const std::uint64_t> processes) const;

  std::mutex mutex_;
  std::thread thread_;
  Token token_{};
  std::uint64_t process_ = 0;
  std::vector<Listener> listeners_;
  int wake_ = -1;
  bool is_leaving_ = false;
  ServerHandshake::Tokens tokens_;
  std::set<std::uint64_t> ended_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> words_;  ///< by key and place
  std::list<Neighbor> neighbors_;
  std::list<Guest> guests_;
  Clock::time_point deaf_until_{};  ///< there was no room for another guest
  Answerer answerer_;
  Clock::duration interval_ = std::chrono::seconds(1);  ///< between two signs of life
  Clock::time_point next_beat_{};
};

inline const std::atomic<bool> never{false};

/// Asks a process that has admitted the token, and waits for the answer. Gives nothing, with the problem in words, if
/// there is none in that time, or soon after is_over becomes true.
[[nodiscard]] std::optional<std::string> ask(const Card& whom, const Acquaintance& acquaintance,
                                             std::string_view question, Clock::duration patience, std::string& problem,
                                             const std::atomic<bool>& is_over = never);

}  // namespace tutti::detail::outofband
