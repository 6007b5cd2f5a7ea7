// SPDX-License-Identifier: BSD-3-Clause
// Exact sums: the bits of one rank that has the whole array, by any distribution, form, type and way.
#include <tutti/exact.hpp>

#include <complex>
#include <functional>
#include <numeric>

#include "support/exercise.hpp"
#include "unit/exact/numbers.hpp"
#include "unit/exact/oracle.hpp"

namespace tutti::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The rank that holds element i of n, in a way of distribution.
constexpr std::size_t distributions = 4;
int owner(std::size_t way, std::size_t i, std::size_t n, int size) {
  const auto ranks = static_cast<std::size_t>(size);
  switch (way) {
    case 0:
      return static_cast<int>(i * ranks / n);
    case 1:
      return static_cast<int>(i % ranks);
    case 2:
      return size - 1;
    default:
      return i < n / 9 ? 0 : static_cast<int>(std::min<std::size_t>(ranks - 1, 1));
  }
}

/// The elements of this rank.
template <typename T>
std::vector<T> mine(const std::vector<T>& all, const Communicator& comm, std::size_t way) {
  std::vector<T> own;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (owner(way, i, all.size(), comm.size()) == comm.rank()) own.push_back(all[i]);
  return own;
}

/// Calls body(comm, way) for all communicators and distributions.
void for_each_place(const std::function<void(const Communicator&, std::size_t)>& body) {
  for (const Communicator& comm : communicators())
    for (std::size_t way = 0; way < distributions; ++way) {
      SCOPED_TRACE("distribution " + std::to_string(way) + ", " + std::to_string(comm.size()) + " ranks");
      body(comm, way);
    }
}

double sum_of(const std::vector<double>& x) {
  Oracle oracle;
  for (const double value : x) oracle.add(value);
  return oracle.rounded();
}
double dot_of(const std::vector<double>& x, const std::vector<double>& y) {
  Oracle oracle;
  for (std::size_t i = 0; i < x.size(); ++i) oracle.add_product(x[i], y[i]);
  return oracle.rounded();
}

TEST(Exact, SumIsThatOfOneRank) {
  Random random(1);
  for (std::size_t which = 0; which < 64; ++which) {
    const std::vector<double> all = difficult_numbers(random, which, 1 + random() % 60);
    const double expected = sum_of(all);
    for_each_place([&](const Communicator& comm, std::size_t way) {
      const double sum = exact_sum(comm, mine(all, comm, way));
      EXPECT_EQ(sum, expected) << which;
    });
  }
}

TEST(Exact, LongSumIsThatOfOneRank) {
  Random random(2);
  for (std::size_t which = 0; which < 8; ++which) {
    const std::vector<double> all = difficult_numbers(random, which, 30'000);
    const double expected = sum_of(all);
    for_each_place([&](const Communicator& comm, std::size_t way) {
      const double sum = exact_sum(comm, mine(all, comm, way));
      EXPECT_EQ(sum, expected) << which;
    });
  }
}

TEST(Exact, FormsAndAlgorithmsAgree) {
  Random random(3);
  for (const Communicator& comm : communicators()) {
    for (const std::string& algorithm : algorithm_names(Operation::allreduce)) {
      const Options options{.algorithm = algorithm};
      std::vector<double> all = difficult_numbers(random, 7, 50);
      std::vector<double> own = mine(all, comm, 1);
      double sum = 0;
      Request persistent;
      try {
        exact_sum(comm, own, Buffer(&sum, 1), options);
        EXPECT_EQ(sum, sum_of(all)) << algorithm;
        sum = 0;
        Request request = iexact_sum(comm, own, Buffer(&sum, 1), options);
        request.wait();
        EXPECT_EQ(sum, sum_of(all)) << algorithm;
        persistent = exact_sum_init(comm, own, Buffer(&sum, 1), options);
      } catch (const Error& e) {  // not every way makes every call
        EXPECT_NE(std::string(e.what()).find("cannot be used"), std::string::npos) << e.what();
        continue;
      }
      for (int i = 0; i < 3; ++i) {
        all = difficult_numbers(random, 5, 50);
        const std::vector<double> other = mine(all, comm, 1);
        std::copy(other.begin(), other.end(), own.begin());
        persistent.start();
        persistent.wait();
        EXPECT_EQ(sum, sum_of(all)) << algorithm << " " << i;
      }
    }
  }
}

TEST(Exact, OutstandingCallsAreApart) {
  Random random(4);
  const Communicator& comm = communicators().front();
  constexpr std::size_t calls = 5;
  std::vector<std::vector<double>> all;
  std::vector<double> sums(calls);
  std::vector<Request> requests;
  for (std::size_t k = 0; k < calls; ++k) {
    all.push_back(difficult_numbers(random, 0, 40));
    std::vector<double> own = mine(all[k], comm, 0);
    requests.push_back(iexact_sum(comm, own, Buffer(&sums[k], 1)));
    std::fill(own.begin(), own.end(), nan);  // the elements have been taken
  }
  wait_all(requests);
  for (std::size_t k = 0; k < calls; ++k) EXPECT_EQ(sums[k], sum_of(all[k])) << k;
}

TEST(Exact, DotAndNormAreThoseOfOneRank) {
  Random random(5);
  for (std::size_t which = 0; which < 32; ++which) {
    const std::vector<double> x = difficult_numbers(random, which, 41);
    const std::vector<double> y = difficult_numbers(random, which / 8, 41);
    double expected_norm = 0;
    exact_norm2(communicators().back().split(communicators().back().rank(), 0), x, Buffer(&expected_norm, 1));
    for_each_place([&](const Communicator& comm, std::size_t way) {
      const std::vector<double> own_x = mine(x, comm, way);
      const std::vector<double> own_y = mine(y, comm, way);
      double norm = -1;
      double later = -1;
      EXPECT_EQ(exact_dot(comm, own_x, own_y), dot_of(x, y)) << which;
      exact_norm2(comm, own_x, Buffer(&norm, 1));
      iexact_dot(comm, own_x, own_y, Buffer(&later, 1)).wait();
      EXPECT_EQ(norm, expected_norm) << which;
      EXPECT_EQ(later, dot_of(x, y)) << which;
    });
  }
}

TEST(Exact, NormOfThreeAndFourIsFive) {
  const Communicator& comm = communicators().front();
  const std::vector<double> own = comm.rank() == 0 ? std::vector{std::ldexp(3.0, 700)} : std::vector<double>{};
  const std::vector<double> last =
      comm.rank() == comm.size() - 1 ? std::vector{std::ldexp(4.0, 700)} : std::vector<double>{};
  std::vector<double> both = own;
  both.insert(both.end(), last.begin(), last.end());
  double norm = 0;
  exact_norm2(comm, both, Buffer(&norm, 1));
  EXPECT_EQ(norm, std::ldexp(5.0, 700));
}

TEST(Exact, FieldsWeightsAndMasksGoTogether) {
  Random random(6);
  constexpr std::size_t n = 90;
  constexpr std::size_t fields = 3;
  std::vector<std::vector<double>> x;
  for (std::size_t f = 0; f < fields; ++f) x.push_back(difficult_numbers(random, f, n));
  const std::vector<double> w = difficult_numbers(random, 5, n);
  std::vector<std::int32_t> mask(n);
  for (std::int32_t& m : mask) m = random() % 3 == 0 ? 0 : -7;
  for (std::size_t i = 0; i < n; ++i)
    if (mask[i] == 0) x[1][i] = nan;
  std::vector<double> sums(fields), weighted(fields);
  for (std::size_t f = 0; f < fields; ++f) {
    Oracle plain, products;
    for (std::size_t i = 0; i < n; ++i) {
      if (mask[i] == 0) continue;
      plain.add(x[f][i]);
      products.add_product(x[f][i], w[i]);
    }
    sums[f] = plain.rounded();
    weighted[f] = products.rounded();
  }
  for_each_place([&](const Communicator& comm, std::size_t way) {
    std::vector<double> own;
    for (const std::vector<double>& field : x) {
      const std::vector<double> part = mine(field, comm, way);
      own.insert(own.end(), part.begin(), part.end());
    }
    const std::vector<double> own_w = mine(w, comm, way);
    const std::vector<std::int32_t> own_mask = mine(mask, comm, way);
    std::vector<double> found(fields);
    exact_sum(comm, ExactTerms(own).masked(own_mask), found);
    EXPECT_EQ(found, sums);
    exact_sum(comm, ExactTerms(own).weighted(own_w).masked(own_mask), found);
    EXPECT_EQ(found, weighted);
    iexact_sum(comm, ExactTerms(own).weighted(own_w).masked(own_mask), found).wait();
    EXPECT_EQ(found, weighted);
    std::vector<double> each_w;
    std::vector<std::int32_t> each_mask;
    for (std::size_t f = 0; f < fields; ++f) {
      each_w.insert(each_w.end(), own_w.begin(), own_w.end());
      each_mask.insert(each_mask.end(), own_mask.begin(), own_mask.end());
    }
    exact_sum(comm, ExactTerms(own).weighted(each_w).masked(each_mask), found);
    EXPECT_EQ(found, weighted);
  });
}

TEST(Exact, ManyFieldsOfOneValueEach) {
  Random random(7);
  const Communicator& comm = communicators().front();
  constexpr std::size_t fields = 64;
  std::vector<double> own(fields), found(fields);
  std::vector<std::vector<double>> all(fields);
  for (std::size_t f = 0; f < fields; ++f) {
    all[f] = difficult_numbers(random, f, static_cast<std::size_t>(comm.size()));
    own[f] = all[f][static_cast<std::size_t>(comm.rank())];
  }
  exact_sum(comm, own, found);
  for (std::size_t f = 0; f < fields; ++f) EXPECT_EQ(found[f], sum_of(all[f])) << f;
}

/// Sums that come as single numbers from call to call, and then, on one rank, no longer: all ranks send them again.
TEST(Exact, ManyFieldsStopToBeSingleOnOneRank) {
  Random random(11);
  constexpr std::size_t fields = 19;
  const double payload = std::bit_cast<double>(std::uint64_t{0x7ff8'0000'0000'0001});
  for (const Communicator& comm : communicators()) {
    const int last = comm.size() - 1;
    for (std::size_t call = 0; call < 24; ++call) {
      const std::size_t more = call % 8 == 6 ? 2 : call % 16 == 15 ? 7 : 0;  // elements of the last rank's fields
      std::vector<double> own, expected(fields), found(fields, -1);
      for (std::size_t f = 0; f < fields; ++f) {
        std::vector<double> all = difficult_numbers(random, f + call, static_cast<std::size_t>(comm.size()) + more);
        if (f == 3) std::fill(all.begin(), all.end(), -0.0);
        if (f == 4) all.front() = infinity;
        if (f == 5 && call % 2 == 0) all.back() = -payload;
        own.insert(own.end(), all.begin() + comm.rank(),
                   comm.rank() == last ? all.end() : all.begin() + comm.rank() + 1);
        expected[f] = f == 3 ? -0.0 : f == 4 ? infinity : f == 5 && call % 2 == 0 ? nan : sum_of(all);
      }
      exact_sum(comm, own, found);
      for (std::size_t f = 0; f < fields; ++f)
        EXPECT_EQ(bits(found[f]), bits(expected[f] == 0 && f != 3 ? found[f] : expected[f])) << call << " " << f;
    }
  }
}

TEST(Exact, PersistentSumsBecomeMisfitsOnOneRank) {
  for (const Communicator& comm : communicators()) {
    const bool is_last = comm.rank() == comm.size() - 1;
    const double ranks = comm.size();
    std::vector<double> own(12, 1.0), sums(2);
    Request first = exact_sum_init(comm, own, sums);
    double other_sum = 0;
    Request other = exact_sum_init(comm, own, Buffer(&other_sum, 1));
    for (int i = 0; i < 6; ++i) {
      std::fill(own.begin(), own.end(), 1.0);
      const bool is_far = i % 3 != 0;
      if (is_last && is_far) own = {1e300, 1e200, 1e100, 1, 1e-100, 1e-300, -1e300, -1e200, -1e100, -1, -1e-100, 5};
      if (comm.rank() % 2 == 0) first.start(), other.start();
      if (comm.rank() % 2 == 1) other.start(), first.start();
      std::fill(own.begin(), own.end(), nan);  // the elements have been taken
      first.wait();
      other.wait();
      EXPECT_EQ(sums[0], is_far ? 1e300 : 6 * ranks) << i;
      EXPECT_EQ(sums[1], is_far ? -1e300 : 6 * ranks) << i;
      EXPECT_EQ(other_sum, is_far ? 12 * (ranks - 1) + 5 : 12 * ranks) << i;
    }
  }
}

TEST(Exact, StridesAreLayouts) {
  Random random(8);
  constexpr std::size_t rows = 700;
  constexpr std::size_t columns = 3;
  const std::vector<double> matrix = difficult_numbers(random, 5, rows * columns);
  const Communicator& comm = communicators().front();
  const bool is_mine = comm.rank() == comm.size() - 1;
  const std::array<std::size_t, 2> extents{columns, is_mine ? rows : 0};
  const std::array<std::ptrdiff_t, 2> strides{1, columns};
  std::vector<double> sums(columns), expected(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    Oracle oracle;
    for (std::size_t r = 0; r < rows; ++r) oracle.add(matrix[r * columns + c]);
    expected[c] = oracle.rounded();
  }
  exact_sum(comm, ConstBuffer(matrix.data(), Layout::strided(extents, strides)), sums);
  EXPECT_EQ(sums, expected);
}

template <typename T>
class ExactOf : public ::testing::Test {};
using Types = ::testing::Types<float, float16_t, bfloat16_t, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ExactOf, Types);

template <typename T>
struct Parts {
  static constexpr std::size_t count = 1;
  static T make(double re, double) { return T(static_cast<float>(re)); }
  static double part(T x, std::size_t) { return static_cast<double>(static_cast<float>(x)); }
};
template <typename F>
struct Parts<std::complex<F>> {
  static constexpr std::size_t count = 2;
  static std::complex<F> make(double re, double im) { return {static_cast<F>(re), static_cast<F>(im)}; }
  static double part(std::complex<F> x, std::size_t which) { return which == 0 ? x.real() : x.imag(); }
};
template <typename T>
double round_to(const Oracle& oracle) {
  switch (datatype_of<T>().kind()) {
    case DatatypeKind::float16:
      return oracle.rounded(11, -24, 16);
    case DatatypeKind::bfloat16:
      return oracle.rounded(8, -133, 128);
    case DatatypeKind::complex128:
      return oracle.rounded();
    default:
      return oracle.rounded(24, -149, 128);
  }
}

TYPED_TEST(ExactOf, SumsAndDotsAreRoundedOnce) {
  using T = TypeParam;
  Random random(9);
  std::vector<T> x, y;
  for (int i = 0; i < 77; ++i) {
    x.push_back(Parts<T>::make(number_between(random, -12, 12), number_between(random, -12, 12)));
    y.push_back(Parts<T>::make(number_between(random, -9, 3), number_between(random, -9, 3)));
  }
  Oracle sums[2], dots[2];
  const auto part = [](T value, std::size_t which) { return Parts<T>::part(value, which); };
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t p = 0; p < Parts<T>::count; ++p) sums[p].add(part(x[i], p));
    dots[0].add_product(part(x[i], 0), part(y[i], 0));
    if (Parts<T>::count == 1) continue;
    dots[0].add_product(part(x[i], 1), part(y[i], 1));
    dots[1].add_product(part(x[i], 0), part(y[i], 1));
    dots[1].add_product(-part(x[i], 1), part(y[i], 0));
  }
  for_each_place([&](const Communicator& comm, std::size_t way) {
    const std::vector<T> own_x = mine(x, comm, way);
    const std::vector<T> own_y = mine(y, comm, way);
    T sum{}, dot{}, later{};
    exact_sum(comm, own_x, Buffer(&sum, 1));
    exact_dot(comm, own_x, own_y, Buffer(&dot, 1));
    iexact_dot(comm, own_x, own_y, Buffer(&later, 1)).wait();
    for (std::size_t p = 0; p < Parts<T>::count; ++p) {
      EXPECT_EQ(part(sum, p), round_to<T>(sums[p]));
      EXPECT_EQ(part(dot, p), round_to<T>(dots[p]));
      EXPECT_EQ(part(later, p), round_to<T>(dots[p]));
    }
  });
}

TEST(Exact, ResultsMayHaveAnotherType) {
  const Communicator& comm = communicators().front();
  const std::vector<float> own(3, 1.1F);
  double sum = 0;
  exact_sum(comm, own, Buffer(&sum, 1));
  EXPECT_EQ(sum, 3.0 * comm.size() * static_cast<double>(1.1F));
}

TEST(Exact, SpecialValuesAreEqualOnAllRanks) {
  const Communicator& comm = communicators().front();
  const int last = comm.size() - 1;
  const auto on = [&](int rank, double value) {
    return comm.rank() == rank ? std::vector<double>{value} : std::vector<double>{};
  };
  EXPECT_EQ(bits(exact_sum(comm, on(last, -nan))), bits(nan));
  EXPECT_EQ(exact_sum(comm, on(last, -infinity)), -infinity);
  EXPECT_EQ(bits(exact_sum(comm, on(last, -0.0))), bits(-0.0));
  EXPECT_EQ(bits(exact_sum(comm, std::vector<double>{})), bits(0.0));
  std::vector<double> both = on(0, infinity);
  if (comm.rank() == last) both.push_back(-infinity);
  EXPECT_EQ(bits(exact_sum(comm, both)), bits(nan));
  const std::vector<double> many(100, 1e308);
  EXPECT_EQ(exact_sum(comm, many), infinity);
}

/// Numbers that no short form holds: the ranks take the second message together.
TEST(Exact, SumsThatReachFarTakeAllDigits) {
  const Communicator& comm = communicators().front();
  std::vector<double> own;
  if (comm.rank() == 0) own = {1e300, 1e200, 1e100, 1, 1e-100, 1e-200, 1e-300};
  if (comm.rank() == comm.size() - 1) own.insert(own.end(), {-1e300, -1e200, -1e100, -1, -1e-100, -1e-200});
  EXPECT_EQ(exact_sum(comm, own), 1e-300);
}

TEST(Exact, MeansAndVariances) {
  std::vector<double> all(1000), w(1000), heavy(1000);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = 1e6 + static_cast<double>(i % 10);
    w[i] = i % 10 < 2 ? 1 : 0;
    heavy[i] = i % 10 == 3 ? 0.5 : 0.25;
  }
  for_each_place([&](const Communicator& comm, std::size_t way) {
    const std::vector<double> own = mine(all, comm, way);
    const std::vector<double> own_w = mine(w, comm, way);
    std::vector<std::int8_t> selected(own_w.begin(), own_w.end());
    double mean = 0, variance = 0, weighted = 0, masked = 0;
    exact_variance(comm, own, Buffer(&mean, 1), Buffer(&variance, 1));
    exact_mean(comm, ExactTerms(own).weighted(own_w), Buffer(&weighted, 1));
    exact_mean(comm, ExactTerms(own).masked(selected), Buffer(&masked, 1));
    EXPECT_EQ(mean, 1e6 + 4.5);
    EXPECT_EQ(variance, 8.25);
    EXPECT_EQ(weighted, 1e6 + 0.5);
    EXPECT_EQ(masked, 1e6 + 0.5);
    exact_variance(comm, ExactTerms(own).weighted(own_w), Buffer(&mean, 1), Buffer(&variance, 1));
    EXPECT_EQ(variance, 0.25);
    const std::vector<double> own_heavy = mine(heavy, comm, way);
    exact_mean(comm, ExactTerms(own).weighted(own_heavy), Buffer(&mean, 1));
    EXPECT_EQ(mean, (25 * (10e6 + 45) + 25 * (1e6 + 3)) / 275);
    exact_mean(comm, std::vector<double>(), Buffer(&mean, 1));
    EXPECT_EQ(bits(mean), bits(nan));
  });
}

TEST(Exact, LocationsOfEqualElementsAreTheFirst) {
  std::vector<float> all(100, 2.0F);
  all[40] = all[60] = 1.0F;
  all[30] = all[70] = 3.0F;
  std::vector<std::uint8_t> mask(100, 1);
  mask[40] = 0;
  for (const Communicator& comm : communicators()) {
    const auto own = mine(all, comm, 0);
    const auto own_mask = mine(mask, comm, 0);
    std::int64_t first = 0;
    while (owner(0, static_cast<std::size_t>(first), all.size(), comm.size()) != comm.rank()) ++first;
    EXPECT_EQ(exact_minloc(comm, own, first), (Float64Int64{1, 40}));
    EXPECT_EQ(exact_maxloc(comm, own, first), (Float64Int64{3, 30}));
    EXPECT_EQ(exact_minloc(comm, ExactTerms(own).masked(own_mask), first), (Float64Int64{1, 60}));
    std::vector<float> odd = own;
    odd.back() = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(exact_maxloc(comm, odd, first).value));
    EXPECT_EQ(exact_minloc(comm, std::vector<double>(), 0).index, -1);
    EXPECT_EQ(exact_minloc(comm, std::vector<double>{infinity}, comm.rank()), (Float64Int64{infinity, 0}));
  }
}

TEST(Exact, AccumulatorsAreFilledJoinedAndSent) {
  Random random(10);
  const std::vector<double> all = difficult_numbers(random, 0, 200);
  for_each_place([&](const Communicator& comm, std::size_t way) {
    const std::vector<double> own = mine(all, comm, way);
    std::vector<ExactSum> sums(2);
    for (const double value : own) sums[0].add(value);
    sums[1].add(own);
    std::vector<ExactSum> gathered(static_cast<std::size_t>(comm.size()));
    allgather(comm, Buffer(&sums[1], 1), gathered);
    const ExactSum joined = std::accumulate(gathered.begin(), gathered.end(), ExactSum(),
                                            [](ExactSum a, const ExactSum& b) { return a += b; });
    exact_allreduce(comm, sums);
    EXPECT_EQ(sums[0].rounded(), sum_of(all));
    EXPECT_EQ(sums[1].rounded(), sum_of(all));
    EXPECT_EQ(joined.rounded(), sum_of(all));
  });
}

void expect_refused(ErrorCode code, const char* text, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

TEST(Exact, WrongArgumentsAreRefusedByName) {
  const Communicator comm = Communicator::duplicate(communicators().front().mpi_handle());
  const std::vector<double> x(6), w(5);
  const std::vector<int> integers(6);
  const std::vector<float> narrow(6);
  std::vector<double> sums(3), four(4);
  std::complex<double> complex_sum;
  const auto refused = [&](const char* text, const auto& call) {
    expect_refused(ErrorCode::invalid_argument, text, call);
  };
  const auto no_type = [&](const char* text, const auto& call) {
    expect_refused(ErrorCode::invalid_datatype, text, call);
  };
  refused("do not divide by the number of fields", [&] { exact_sum(comm, x, four); });
  refused("argument weights has 5 elements", [&] { exact_sum(comm, ExactTerms(x).weighted(w), sums); });
  refused("argument mask has 5", [&] { exact_sum(comm, ExactTerms(x).masked(std::span(integers).first(5)), sums); });
  refused("argument y has 5", [&] { exact_dot(comm, x, w, sums); });
  refused("only sums have weights", [&] { exact_norm2(comm, ExactTerms(x).weighted(x), sums); });
  refused("in_place", [&] { exact_sum(comm, ConstBuffer(in_place), sums); });
  no_type("argument values has datatype int32", [&] { exact_sum(comm, integers, sums); });
  no_type("argument weights has datatype float32", [&] { exact_sum(comm, ExactTerms(x).weighted(narrow), sums); });
  no_type("argument mask has datatype float64", [&] { exact_sum(comm, ExactTerms(x).masked(x), sums); });
  no_type("argument sums has datatype complex128", [&] { exact_sum(comm, x, Buffer(&complex_sum, 1)); });
  expect_refused(ErrorCode::not_supported, "argument values is in device memory",
                 [&] { exact_sum(comm, x, sums, {.memory = MemoryKind::device}); });
  refused("exact_sum_init", [&] { (void)exact_sum_init(comm, x, four); });
}

}  // namespace
}  // namespace tutti::test
