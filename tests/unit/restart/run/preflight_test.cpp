#include "restart/run/preflight.hpp"

#include "restart/wire/job_lines.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace restart;
using namespace restart::run;

namespace {

CheckWord word(const std::string& host, CheckVerdict verdict, const std::string& component = "rail1") {
    return {host, "net.bandwidth", component, verdict, {}, {}, {}, "says"};
}

Heard heard(std::vector<CheckWord> words, const Seats& seats, const std::set<std::string>& silent = {}) {
    for (const auto* hosts : {&seats.ranks, &seats.spares})
        for (const auto& host : *hosts)
            if (!silent.contains(host))
                words.push_back({host, std::string(preflight_ended), "host", CheckVerdict::measured, 1.0});
    return {std::move(words), {}, 1, silent.empty()};
}

const Seats four{{"n1", "n2", "n3", "n4"}, {"n5"}};

} // namespace

TEST_CASE("a host fails by a check that found it bad, and its place goes to a spare") {
    const auto found = find_failed(heard({word("n2", CheckVerdict::bad)}, four), four);
    CHECK(found.failed == std::set<std::string>{"n2"});
    CHECK(found.verdict == "n2 fails");
    CHECK(found.lines == std::vector<std::string>{"n2 rail1: net.bandwidth: says"});
    CHECK(without_failed(four, found.failed).value() == Seats{{"n1", "n5", "n3", "n4"}, {"n2"}});
    CHECK(without_failed(four, {"n5"}).value() == Seats{{"n1", "n2", "n3", "n4"}, {"n5"}});
    CHECK_FALSE(without_failed({{"n1", "n2"}, {}}, {"n2"}));
}

TEST_CASE("nobody fails who was slow to answer, could not be tried, or shares what is slow with others") {
    const auto found = find_failed(heard({word("n1", CheckVerdict::not_run), word("", CheckVerdict::warning),
                                          word("n9", CheckVerdict::bad), word("n3", CheckVerdict::warning)},
                                         four, {"n2"}),
                                   four);
    CHECK(found.failed.empty());
    CHECK(found.lines ==
          std::vector<std::string>{"not as fast as it should be: rail1: net.bandwidth: says",
                                   "not as fast as it should be: n3 rail1: net.bandwidth: says",
                                   "not tried: n1 rail1: net.bandwidth: says",
                                   "n2: no end of the checks in time, they are given up"});
}

TEST_CASE("what hosts say alike is one line, and only where all was tried and is sound do all pass") {
    auto words =
        std::vector{word("n1", CheckVerdict::not_run, "gpus"), word("n3", CheckVerdict::not_run, "gpus"),
                    word("n2", CheckVerdict::not_run, "gpus")};
    const auto verdict = [&] { return find_failed(heard(words, four), four).verdict; };
    CHECK(verdict() == "nothing could be tried");
    words.push_back(word("n1", CheckVerdict::not_run, "gpus"));
    words.back().check = "gpu.state";
    words.push_back(word("n4", CheckVerdict::sound));
    CHECK(find_failed(heard(words, four), four).lines ==
          std::vector<std::string>{"not tried: n[1-3] gpus: net.bandwidth, gpu.state: says"});
    CHECK(verdict() == "no host fails");
    words = {word("n4", CheckVerdict::sound), word("n5", CheckVerdict::measured)};
    CHECK(verdict() == "all pass");
    CHECK(find_failed(heard(words, four, {"n1"}), four).verdict == "no host fails");
    words.push_back(word("n5", CheckVerdict::warning));
    CHECK(verdict() == "no host fails");
}

TEST_CASE("where more than a quarter of the hosts fail it is no fault of each") {
    Seats seats;
    std::vector<CheckWord> words;
    for (int i = 0; i < 8; ++i)
        seats.ranks.push_back(fmt::format("n{}", i));
    for (int i = 0; i < 2; ++i)
        words.push_back(word(seats.ranks[static_cast<std::size_t>(i)], CheckVerdict::bad));
    CHECK(find_failed(heard(words, seats), seats).failed.size() == 2);
    words.push_back(word("n7", CheckVerdict::bad));
    const auto found = find_failed(heard(words, seats), seats);
    CHECK(found.failed.empty());
    CHECK(found.verdict == "n[0-1,7] fail");
    CHECK(found.lines.back() == "so many of 8 hosts fail that it is the fault of none: none is left");
}

TEST_CASE("what is told is a line of a job, the worst first, and reads back") {
    Seats seats;
    std::vector<CheckWord> words;
    for (int i = 0; i < 1000; ++i) {
        seats.ranks.push_back(fmt::format("n{:03}", i));
        auto one = word(seats.ranks.back(), i == 700 ? CheckVerdict::bad : CheckVerdict::sound);
        one.says = std::string(160, '"');
        words.push_back(one);
    }
    const auto told = to_tell(find_failed(heard(words, seats), seats), 2, true);
    const auto line = to_line(JobRequest(told));
    CHECK(line.size() <= longest_job_line);
    CHECK(told.without == std::vector<std::string>{"n700"});
    CHECK(told.words.size() > 40);
    CHECK(told.words.front().host == "n700");
    CHECK(std::get<Preflight>(read_job_request(line).value()) == told);
}

TEST_CASE("a word that a check prints is short enough to come in one piece, whatever it holds") {
    CheckWord long_one{
        std::string(300, 'h'), std::string(300, 'c'),  std::string(300, '/'), CheckVerdict::bad, 1.5, 2.0,
        std::string(300, 'u'), std::string(3000, '\n')};
    const auto line = to_line(long_one);
    CHECK(line.size() < 1000);
    const auto read = read_check_word(line).value();
    CHECK(read.share() == 0.75);
    CHECK(read.verdict == CheckVerdict::bad);
    CHECK_FALSE(read_check_word("srun: error: no such thing"));
    CHECK_FALSE(read_check_word(R"({"check":"x","component":"y","verdict":"rotten"})"));
}
