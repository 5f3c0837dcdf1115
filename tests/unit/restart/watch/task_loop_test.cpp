// Tasks in turn: one thread for those that return, one more for each that hangs.
#include "restart/watch/task_loop.hpp"

#include "unit/patience.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <poll.h>
#include <string>
#include <thread>

using namespace std::chrono_literals;
using restart::next_beat;
using restart::TaskLoop;

namespace {

// Hangs until it is let go, and counts.
struct Gate {
    std::atomic<bool> open = false;
    std::atomic<int> entered = 0, left = 0;
    TaskLoop::Clock::time_point pass() {
        ++entered;
        while (!open)
            std::this_thread::sleep_for(1ms);
        ++left;
        return next_beat(1ms);
    }
};

TaskLoop::Work counting(const std::shared_ptr<std::atomic<int>>& count, base::Duration interval) {
    return [count, interval] {
        ++*count;
        return next_beat(interval);
    };
}

} // namespace

TEST_CASE("tasks that return are done in turn by one thread") {
    const auto thread = std::make_shared<std::atomic<std::size_t>>(0);
    const auto others = std::make_shared<std::atomic<int>>(0), done = std::make_shared<std::atomic<int>>(0);
    TaskLoop loop(24h);
    std::vector<TaskLoop::Task> tasks;
    for (int i = 0; i < 5; ++i)
        tasks.push_back(loop.add([=] {
            const auto mine = std::hash<std::thread::id>()(std::this_thread::get_id());
            std::size_t none = 0;
            if (!thread->compare_exchange_strong(none, mine) && none != mine) ++*others;
            ++*done;
            return next_beat(1ms);
        }));
    CHECK(test::eventually([&] { return *done > 100; }));
    CHECK(*others == 0);
    CHECK(loop.threads() == 1);
}

TEST_CASE("what is due at one time is done in the order in which it was added") {
    const auto order = std::make_shared<std::string>();
    const auto done = std::make_shared<std::atomic<int>>(0);
    const auto begin = TaskLoop::Clock::now() + 50ms;
    TaskLoop loop(24h);
    std::vector<TaskLoop::Task> tasks;
    for (const char name : {'a', 'b', 'c'})
        tasks.push_back(loop.add([=, times = -1]() mutable {
            if (++times > 0) *order += name; // of one thread
            if (name == 'c') *done = times;
            return times < 20 ? begin + times * 2ms : TaskLoop::Clock::time_point::max();
        }));
    REQUIRE(test::eventually([&] { return *done == 20; }));
    CHECK(order->substr(order->size() - 15) == "abcabcabcabcabc");
}

TEST_CASE("a task that hangs holds up the others for its patience alone, and is done again once it returns") {
    const auto gate = std::make_shared<Gate>();
    const auto looks = std::make_shared<std::atomic<int>>(0);
    TaskLoop loop(10ms);
    const auto hangs = loop.add([gate] { return gate->pass(); });
    const auto goes_on = loop.add(counting(looks, 1ms));
    REQUIRE(test::eventually([&] { return gate->entered == 1; }));
    // Whoever sleeps until the watchdog calls is woken by it.
    pollfd watched{loop.watchdog(), POLLIN, 0};
    REQUIRE(::poll(&watched, 1, static_cast<int>(test::patience().count())) == 1);
    loop.relieve();
    CHECK(test::eventually([&] { return *looks > 20; }));
    CHECK(gate->entered == 1); // never by two at a time
    CHECK(loop.threads() == 2);
    loop.relieve();
    CHECK(loop.threads() == 2);
    gate->open = true;
    CHECK(test::eventually([&] { return gate->left > 10; }));
    CHECK(test::eventually([&] { return loop.threads() == 1; }));
}

TEST_CASE("of several that hang each keeps one thread, and all end together") {
    const auto gate = std::make_shared<Gate>();
    const auto looks = std::make_shared<std::atomic<int>>(0);
    int before = 0;
    {
        TaskLoop loop(1ms);
        std::vector<TaskLoop::Task> tasks;
        for (int i = 0; i < 12; ++i)
            tasks.push_back(loop.add([gate] { return gate->pass(); }));
        tasks.push_back(loop.add(counting(looks, 100ms)));
        REQUIRE(test::eventually([&] {
            loop.relieve();
            return gate->entered == 12 && *looks > 0;
        }));
        CHECK(loop.threads() == 13);
        before = *looks;
    }
    CHECK(*looks - before < 20); // not a second for each
    gate->open = true;
    CHECK(test::eventually([&] { return gate->left == 12; })); // what they use is theirs
}

TEST_CASE("a task is done at once when asked, once more when asked meanwhile, and not after it was removed") {
    const auto gate = std::make_shared<Gate>();
    TaskLoop loop(24h);
    auto task = loop.add([gate] {
        gate->pass();
        return TaskLoop::Clock::time_point::max();
    });
    REQUIRE(test::eventually([&] { return gate->entered == 1; }));
    task.now();
    task.now();
    gate->open = true;
    CHECK(test::eventually([&] { return gate->left == 2; }));
    task.by(TaskLoop::Clock::now() + 24h);
    task.now();
    CHECK(test::eventually([&] { return gate->left == 3; }));
    task = {};
    const auto other = std::make_shared<std::atomic<int>>(0);
    const auto later = loop.add(counting(other, 1ms));
    CHECK(test::eventually([&] { return *other > 5; }));
    CHECK(gate->left == 3);
}
