#include "restart/watch/cut_off.hpp"

#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <set>

using namespace std::chrono_literals;
using namespace restart;

namespace {

constexpr base::Duration after = 20s;
const CutOff::Time begin{1h};
const CutOff::Round dark{false, 7, 0};

// Looks around each second.
bool is_cut_off(const CutOff::Round& round, std::chrono::seconds silent) {
    CutOff judge(begin);
    for (auto now = 0s; now <= silent; now += 1s)
        if (judge.looks(begin + now, after)) judge.saw(round, begin + now);
    return judge.silence(begin + silent, after).has_value();
}

} // namespace

TEST_CASE(
    "a host is cut off when it reaches neither restartd's hosts nor half of the others, and not before") {
    CHECK(is_cut_off(dark, 20s));
    CHECK_FALSE(is_cut_off(dark, 19s));
    CHECK(is_cut_off({false, 7, 3}, 20s));
    CHECK_FALSE(is_cut_off({false, 7, 4}, 1h)); // restartd's part is the smaller one
    CHECK_FALSE(is_cut_off({false, 8, 4}, 1h));
    CHECK_FALSE(is_cut_off({true, 7, 0}, 1h)); // restartd is stopped
    CHECK_FALSE(is_cut_off({false, 1, 0}, 1h));
    CHECK_FALSE(is_cut_off({false, 0, 0}, 1h));
}

TEST_CASE("what has looked at nothing for a while judges nothing") {
    CutOff judge(begin);
    judge.answered(begin + 5s);
    CHECK_FALSE(judge.looks(begin + 6s, after));
    CHECK(judge.looks(begin + 1h, after)); // it was stopped for an hour
    judge.saw(dark, begin + 1h);
    judge.saw(dark, begin + 1h + 1s);
    CHECK_FALSE(judge.silence(begin + 1h + 1s, after));
    judge.saw(dark, begin + 1h + 2s);
    CHECK(judge.silence(begin + 1h + 2s, after));
    // One good look, or an answer, begins anew.
    judge.saw({false, 7, 5}, begin + 1h + 3s);
    CHECK_FALSE(judge.silence(begin + 1h + 3s, after));
    for (int i = 4; i < 7; ++i)
        judge.saw(dark, begin + 1h + std::chrono::seconds(i));
    CHECK(judge.silence(begin + 1h + 7s, after));
    judge.answered(begin + 1h + 8s);
    judge.saw(dark, begin + 1h + 7s); // it began before the answer
    CHECK_FALSE(judge.silence(begin + 2h, after));
}

TEST_CASE("who keeps a job's processes is told that the host is cut off, and only then") {
    const auto book = std::make_shared<JobBook>();
    std::atomic<bool> network = true;
    std::atomic<int> looks = 0;
    const JobKey job{7, 1, 1000};
    TaskLoop loop(10ms);
    CutOffWatch watch(loop, book, {{"127.0.0.1", "127.0.0.1", 8917}}, 200ms,
                      [&](const std::string&, std::uint16_t) {
                          ++looks;
                          return network ? base::Knocked::refused : base::Knocked::unreached;
                      });
    CHECK_FALSE(watch.wants_witnesses()); // no job is here
    REQUIRE(book->join(job));
    book->keep(job, Kept::no, Kept::here);
    CHECK(watch.wants_witnesses());
    Reply reply;
    reply.witnesses = {{"n2", "127.0.0.2", 6882}, {"n3", "127.0.0.3", 6882}, {"n4", "127.0.0.4", 6882}};
    watch.answered(reply);
    CHECK_FALSE(watch.wants_witnesses());
    REQUIRE(test::eventually([&] { return looks >= 12; })); // restartd is silent, and all live
    CHECK_FALSE(book->keep_advice(job).cut_off);
    network = false;
    REQUIRE(test::eventually([&] { return book->keep_advice(job).cut_off.has_value(); }));
    CHECK_THAT(*book->keep_advice(job).cut_off,
               Catch::StartsWith("this host is cut off: restartd has been silent for") &&
                   Catch::EndsWith("0 of 3 others answer"));
    watch.answered({});
    CHECK(test::eventually([&] { return !book->keep_advice(job).cut_off; }));
}

TEST_CASE("others that never answered here are no witnesses") {
    const auto book = std::make_shared<JobBook>();
    const JobKey job{7, 1, 1000};
    REQUIRE(book->join(job));
    book->keep(job, Kept::no, Kept::here);
    std::atomic<int> looks = 0;
    TaskLoop loop(10ms);
    CutOffWatch watch(loop, book, {{"127.0.0.1", "127.0.0.1", 8917}}, 200ms,
                      [&](const std::string&, std::uint16_t) {
                          ++looks;
                          return base::Knocked::unreached;
                      });
    Reply reply;
    reply.witnesses = {{"n2", "127.0.0.2", 6882}, {"n3", "127.0.0.3", 6882}};
    watch.answered(reply);
    REQUIRE(test::eventually([&] { return looks >= 3; }));
    // One that begins now and loses its witnesses is cut off; by then the first has looked around as often.
    const auto other_book = std::make_shared<JobBook>();
    REQUIRE(other_book->join(job));
    other_book->keep(job, Kept::no, Kept::here);
    std::atomic<int> answers = 0;
    TaskLoop other_loop(10ms);
    CutOffWatch other(other_loop, other_book, {{"127.0.0.1", "127.0.0.1", 8917}}, 200ms,
                      [&](const std::string&, std::uint16_t) {
                          return ++answers > 3 ? base::Knocked::unreached : base::Knocked::refused;
                      });
    other.answered(reply);
    REQUIRE(test::eventually([&] { return other_book->keep_advice(job).cut_off.has_value(); }));
    CHECK_FALSE(book->keep_advice(job).cut_off);
}
