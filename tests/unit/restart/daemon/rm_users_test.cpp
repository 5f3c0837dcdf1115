#include "restart/daemon/rm_users.hpp"

#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using restart::RmLevel;
using restart::RmUser;
using restart::RmUsers;

TEST_CASE("what accounting grants is asked for once in a while") {
    std::atomic<int> asked = 0;
    RmUsers users([&](const std::string& name, base::Duration) -> base::Expected<RmUser> {
        ++asked;
        return RmUser{name == "alice" ? RmLevel::acts : RmLevel::none, {}};
    });
    for (int i = 0; i < 100; ++i) {
        CHECK(users.find(1001, "alice", 3s)->level == RmLevel::acts);
        CHECK(users.find(1002, "bob", 3s)->level == RmLevel::none); // that he is nobody is kept, too
    }
    CHECK(asked == 2);
}

TEST_CASE("many who ask about one user at once ask once") {
    std::atomic<int> asked = 0;
    std::atomic<bool> answer = false;
    RmUsers users([&](const std::string&, base::Duration) -> base::Expected<RmUser> {
        ++asked;
        while (!answer)
            std::this_thread::sleep_for(1ms);
        return RmUser{RmLevel::reads, {"physics"}};
    });
    std::atomic<int> told = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                const auto user = users.find(1001, "alice", test::patience());
                if (user && user->accounts == std::vector<std::string>{"physics"}) ++told;
            });
        CHECK(test::eventually([&] { return asked > 0; }));
        CHECK_FALSE(users.find(1001, "alice", 10ms)); // who has no patience is not told
        answer = true;
    }
    CHECK(told == 8);
    CHECK(asked == 1);
}

TEST_CASE("one that does not answer is left alone for a while, and what is known serves on") {
    std::atomic<int> asked = 0;
    std::atomic<bool> away = false;
    RmUsers users([&](const std::string&, base::Duration) -> base::Expected<RmUser> {
        ++asked;
        if (away) return base::Error{base::Code::unavailable, "away"};
        return RmUser{RmLevel::acts, {}};
    });
    CHECK(users.find(1001, "alice", 3s));
    away = true;
    CHECK_FALSE(users.find(1002, "bob", 10ms)); // too hasty to say that it is away
    CHECK_FALSE(users.find(1002, "bob", 3s));
    CHECK(asked == 3);
    for (int i = 0; i < 100; ++i)
        CHECK_FALSE(users.find(static_cast<std::uint32_t>(2000 + i), "mallory", 3s));
    CHECK(asked == 3);
    CHECK(users.find(1001, "alice", 3s)->level == RmLevel::acts);
}

TEST_CASE("only so many users are kept") {
    std::atomic<int> asked = 0;
    RmUsers users([&](const std::string&, base::Duration) -> base::Expected<RmUser> {
        ++asked;
        return RmUser{};
    });
    for (std::uint32_t uid = 0; uid < 1500; ++uid)
        users.find(uid, "user", 3s);
    CHECK(asked == 1500);
    users.find(1499, "user", 3s);
    CHECK(asked == 1500);
    users.find(0, "user", 3s); // had to go
    CHECK(asked == 1501);
}
