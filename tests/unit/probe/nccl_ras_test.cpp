// NCCL's RAS: the text of a double, in the words that NCCL's sources print; no NCCL runs here.
#include "probe/nccl_ras.hpp"
#include "unit/probe/ras_double.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>


using namespace probe;
using test::RasDouble;

namespace {

constexpr base::Duration patient{20'000}; // for answers that must come, however busy the machine is

std::string status_text(const std::string& rows, const std::string& errors, const std::string& warnings) {
    return "NCCL version 2.27.3 compiled with CUDA 12.9\n"
           "CUDA runtime version 12090, driver version 12090\n\n"
           "Job summary\n===========\n\n"
           "  Nodes  Processes         GPUs  Processes     GPUs\n"
           "(total)   per node  per process    (total)  (total)\n"
           "      4          8            1         32       32\n"
           "\nCommunicators... (0.01s)\n=============\n\n"
           "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
           "    #  in group  per comm  per node  per comm  in group\n" +
           rows + "\nErrors\n======\n\n" + errors + "Warnings\n========\n\n" + warnings;
}

const std::string sound =
    status_text("    0         1         4         8        32        32   RUNNING      OK\n", "", "");

std::string stuck(int first, int last) {
    return status_text(
        "    0         1         4         8        32        32   RUNNING  MISMATCH\n", "",
        fmt::format(
            "#0-0 (cf264af53edbe986) MISMATCH\n"
            "  Communicator ranks have different AllReduce operation counts\n"
            "  31 ranks have launched up to operation {}\n"
            "  Rank 14 has launched up to operation {} -- GPU 6 managed by process 2096 on node 10.0.0.3\n\n",
            first, last));
}

const std::string missing =
    status_text("    0         1         4       7-8        32        31   RUNNING  INCOMPLETE\n",
                "INCOMPLETE\n  Missing communicator data from 1 job process\n"
                "  Process 3487984 on node 10.0.0.3 managing GPU 5\n\n"
                "#0-0 (cf264af53edbe986) INCOMPLETE\n  Missing communicator data from 1 rank\n"
                "  Rank 29 -- GPU 5 managed by process 3487984 on node 10.0.0.3\n\n",
                "TIMEOUT\n  Encountered 2 communication timeouts while gathering communicator data\n\n");

} // namespace

TEST_CASE("a sound job has nothing to say") {
    const auto status = read_ras(sound);
    REQUIRE(status);
    CHECK(status->version == "2.27.3");
    CHECK(status->communicators.empty());
    CHECK(ras_troubles(*status, &*status, 8, 256).empty());
}

TEST_CASE("missing ranks are told with their process, GPU and host") {
    const auto status = read_ras(missing);
    REQUIRE(status);
    CHECK(status->missing == 1);
    CHECK(status->timeouts == 2);
    REQUIRE(status->lost.size() == 1);
    CHECK(status->lost[0] == RasProcess{-1, "5", 3487984, "10.0.0.3"});
    REQUIRE(status->communicators.size() == 1);
    REQUIRE(status->communicators[0].missing_ranks.size() == 1);
    CHECK(status->communicators[0].missing_ranks[0] == RasProcess{29, "5", 3487984, "10.0.0.3"});
    const auto troubles = ras_troubles(*status, nullptr, 8, 256);
    REQUIRE(troubles.size() == 2);
    CHECK(troubles[0] == "1 of its processes do not answer: GPU 5, process 3487984 on 10.0.0.3");
    CHECK(troubles[1] ==
          "communicator cf264af53edbe986 misses 1 ranks: rank 29 (GPU 5, process 3487984 on 10.0.0.3)");
}

TEST_CASE("processes that RAS has given up, and errors of ranks") {
    const auto status = read_ras(status_text(
        "    0         1         4         8        32        32   RUNNING  ERROR\n",
        "DEAD\n  2 job processes are considered dead (unreachable via the RAS network)\n"
        "  Process 7 on node 10.0.0.3 managing GPU 5\n  Process 8 on node 10.0.0.3 managing GPUs 6,7\n\n"
        "#0-0 (aa) ERROR\n  Asynchronous error on 1 rank\n"
        "  Rank 3 reported Remote process exited or there was a network error -- GPU 3 managed by process 9 "
        "on node "
        "10.0.0.1\n\n",
        ""));
    REQUIRE(status);
    CHECK(status->dead == 2);
    REQUIRE(status->lost.size() == 2);
    CHECK(status->lost[1].gpu == "6,7");
    const auto troubles = ras_troubles(*status, nullptr, 8, 256);
    REQUIRE(troubles.size() == 2);
    CHECK(troubles[0].starts_with(
        "2 of its processes are dead to the others: GPU 5, process 7 on 10.0.0.3, GPU 6,7"));
    CHECK(troubles[1].starts_with("communicator aa has errors: Rank 3 reported Remote process exited"));
}

TEST_CASE("a rank that stays behind while others wait is stuck; one that goes on is not") {
    const auto first = read_ras(stuck(22134, 22086)), later = read_ras(stuck(22134, 22086)),
               going = read_ras(stuck(22140, 22100));
    REQUIRE(first);
    REQUIRE(first->communicators.size() == 1);
    REQUIRE(first->communicators[0].lags.size() == 1);
    const auto& lag = first->communicators[0].lags[0];
    CHECK(lag.operation == "AllReduce");
    CHECK(lag.most == 22134);
    CHECK(lag.least == 22086);
    CHECK(lag.behind == std::vector<RasProcess>{{14, "6", 2096, "10.0.0.3"}});
    CHECK(ras_troubles(*first, nullptr, 8, 256).empty()); // seen once
    CHECK(ras_troubles(*going, &*first, 8, 256).empty());
    const auto troubles = ras_troubles(*later, &*first, 8, 256);
    REQUIRE(troubles.size() == 1);
    CHECK(troubles[0] ==
          "communicator cf264af53edbe986 is stuck: most ranks launched AllReduce 22134, these still "
          "22086: rank 14 (GPU 6, process 2096 on 10.0.0.3)");
    CHECK(ras_troubles(*later, &*first, 8, 32)[0].size() <= 32);
    CHECK(ras_troubles(*later, &*first, 0, 256).empty());
}

TEST_CASE("what is cut, empty or another program's is no answer") {
    CHECK_FALSE(read_ras(""));
    CHECK_FALSE(read_ras("HTTP/1.1 400 Bad Request\r\n\r\n"));
    CHECK(read_ras(missing.substr(0, missing.size() / 2)).error().text.find("was cut") != std::string::npos);
    // Every cut and every changed byte is read without harm.
    for (std::size_t at = 0; at < missing.size(); ++at) {
        static_cast<void>(read_ras(missing.substr(0, at)).has_value());
        auto damaged = missing;
        damaged[at] = at % 2 == 0 ? '\n' : '9';
        if (const auto status = read_ras(damaged)) ras_troubles(*status, &*status, 8, 64);
    }
    // No more is kept than the bounds allow.
    std::string many = sound;
    for (int i = 0; i < 5'000; ++i)
        many += fmt::format("#0-{} ({:x}) INCOMPLETE\n  Missing communicator data from 9 ranks\n", i, i);
    CHECK(read_ras(many)->communicators.size() == most_ras_items);
}

TEST_CASE("the double is asked as NCCL's client asks") {
    const RasDouble ras(missing);
    for (int i = 0; i < 3; ++i) {
        const auto answer = ask_ras(patient, ras.port);
        INFO((answer ? "" : answer.error().text));
        REQUIRE(answer);
        CHECK(*answer == missing);
    }
}

TEST_CASE("one that does not listen, answer, end or stop is left in time") {
    std::uint16_t closed = 0;
    {
        const RasDouble gone("");
        closed = gone.port;
    }
    CHECK(ask_ras(patient, closed).error().code == base::Code::unavailable);
    const RasDouble stranger("", "220 mail ready\r\nOK\n");
    CHECK(ask_ras(patient, stranger.port).error().code == base::Code::input);
    const RasDouble mute("", "");
    CHECK(ask_ras(base::Duration(200), mute.port).error().code == base::Code::unavailable);
    const RasDouble endless(sound, "SERVER PROTOCOL 2\nOK\n", false);
    CHECK(ask_ras(base::Duration(200), endless.port).error().code == base::Code::unavailable);
    const RasDouble flood(std::string(most_ras_bytes + 100'000, 'x'));
    CHECK(ask_ras(patient, flood.port).error().code == base::Code::input);
}
