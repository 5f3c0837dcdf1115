// What a job says of its UCX endpoints: from its lines to findings.
#include "restart/watch/job_session.hpp"
#include "restart/watch/judge.hpp"
#include "restart/watch/ucx_signals.hpp"

#include "unit/restart/watch/sound_host.hpp"

#include "probe/ucx_datagram_writer.hpp"
#include "restart/watch/ucx_port.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

JobUcx of_rank(std::uint32_t rank, std::vector<JobUcx::Path> paths) {
    JobUcx said;
    said.job = base::JobId(12);
    said.rank = rank;
    said.devices = "mlx5_" + std::to_string(rank) + ":1";
    said.paths = std::move(paths);
    return said;
}

// Processes of jobs on a sound host with two ACTIVE ports.
struct Jobs : test::Host {
    JobBook jobs;
    UcxBook book;
    std::string say(JobSession& process, const JobUcx& said) {
        return process.answer(to_line(said), base::now());
    }
    JobSession process(std::uint32_t uid = 1000) { return {jobs, book, uid}; }
    std::vector<Finding> look_for(base::Duration time) {
        std::vector<Finding> findings;
        for (const auto end = sample.now + time; sample.now < end;) {
            sample.now += 1s;
            sample.ucx = book.jobs();
            findings = judge.judge(sample);
        }
        return findings;
    }
    // The evidence of a finding; "none".
    static std::string found(const std::vector<Finding>& findings, std::string_view rule,
                             std::string_view job = "job12") {
        const auto at = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
            return finding.rule == rule && finding.component == job;
        });
        if (at == findings.end()) return "none";
        CHECK(at->severity == Severity::info);
        return at->evidence;
    }
    RuleView view(std::string_view rule) {
        for (const auto& one : judge.view(sample.now))
            if (one.rule->name == rule && one.component == "job12") return one;
        FAIL("no row of " << rule);
        return {};
    }
};

constexpr auto done = "{\"ok\":true}\n";

} // namespace

TEST_CASE("where an endpoint leads") {
    for (const auto* over :
         {"rc_mlx5/mlx5_0:1", "self/memory0+ud_verbs/mlx5_0:1", "dc_mlx5/mlx5_0:1+tcp/eth0"})
        CHECK(reach_of(over) == UcxReach::infiniband);
    for (const auto* over :
         {"self/memory0+tcp/eth0+tcp/lo", "posix/memory+tcp/eth0", "tcp/eth0+tcp/lo", "cma/memory"})
        CHECK(reach_of(over) == UcxReach::local);
    for (const auto* over : {"tcp/eth0", "tcp/eth0+tcp/ib0", "cuda_copy/cuda+tcp/eth0"})
        CHECK(reach_of(over) == UcxReach::tcp);
    for (const auto* over : {"", "unknown", "other", "+", "rc", "cuda_copy/cuda", "/"})
        CHECK(reach_of(over) == UcxReach::unknown);
}

TEST_CASE("a job whose endpoints left InfiniBand says so with rank and rail") {
    Jobs host;
    auto first = host.process(), second = host.process();
    CHECK(host.say(first, of_rank(0, {{"rc_mlx5/mlx5_0:1", 31}})) == done);
    CHECK(host.say(second, of_rank(1, {{"rc_mlx5/mlx5_1:1", 31}})) == done);
    CHECK(host.look_for(30s).empty());
    CHECK(host.view("ucx.fallback").text ==
          "2 processes: 31 over rc_mlx5/mlx5_1:1, 31 over rc_mlx5/mlx5_0:1");
    CHECK(host.say(second, of_rank(1, {{"rc_mlx5/mlx5_1:1", 23}, {"tcp/eth0", 8}})) == done);
    CHECK(host.look_for(9s).empty());
    CHECK(
        Jobs::found(host.look_for(5s), "ucx.fallback")
            .starts_with(
                "8 of 62 endpoints to other hosts left InfiniBand: rank 1 (rail mlx5_1:1): 8 over tcp/eth0"));
    CHECK(host.say(second, of_rank(1, {{"rc_mlx5/mlx5_1:1", 31}})) == done);
    CHECK(host.look_for(60s).empty());
    // A peer is named where the process knows one.
    CHECK(host.say(second, of_rank(1, {{"rc_mlx5/mlx5_1:1", 23}, {"tcp/eth0", 8, "rank 5"}})) == done);
    const auto evidence = Jobs::found(host.look_for(15s), "ucx.fallback");
    INFO(evidence);
    CHECK(evidence.find(": 8 over tcp/eth0, such as to rank 5") != std::string::npos);
}

TEST_CASE("TCP is no fallback where InfiniBand is not to be used, or not there") {
    Jobs host;
    auto process = host.process();
    auto said = of_rank(0, {{"tcp/eth0", 3}, {"posix/memory+tcp/eth0", 7}});
    said.tls = "tcp,self,posix";
    CHECK(host.say(process, said) == done);
    const auto findings = host.look_for(90s);
    CHECK(Jobs::found(findings, "ucx.fallback") == "none");
    CHECK(Jobs::found(findings, "ucx.chosen_tcp")
              .starts_with("3 of 3 endpoints to other hosts are kept from InfiniBand: rank 0 (rail "
                           "mlx5_0:1): 3 over tcp/eth0 by "
                           "UCX_TLS=tcp,self,posix"));

    Jobs plain;
    for (std::size_t i = 0; i < 2; ++i)
        plain.port(i).state = "DOWN";
    auto other = plain.process();
    CHECK(plain.say(other, of_rank(0, {{"tcp/eth0", 3}})) == done);
    const auto none = plain.look_for(90s);
    CHECK(Jobs::found(none, "ucx.fallback") == "none");
    CHECK(Jobs::found(none, "ucx.chosen_tcp") == "none");
}

TEST_CASE("failures are told with rank, rail and peer, and never counted twice") {
    Jobs host;
    auto process = host.process();
    auto said = of_rank(3, {{"rc_mlx5/mlx5_3:1", 31}});
    said.failed = said.timeouts = 2; // before the agent looked for the first time
    said.last = "peer 10.0.0.7 over rc_mlx5/mlx5_3:1: Endpoint timeout";
    CHECK(host.say(process, said) == done);
    CHECK(host.say(process, said) == done);
    CHECK(
        Jobs::found(host.look_for(3s), "ucx.timeouts") ==
        "2 endpoints lost their peer within 10 min 0 s; the last: rank 3 (rail mlx5_3:1), peer 10.0.0.7 over "
        "rc_mlx5/mlx5_3:1: Endpoint timeout");
    said.refused = 1;
    said.last = "no endpoint to peer 10.0.0.8: Destination is unreachable";
    CHECK(host.say(process, said) == done);
    const auto findings = host.look_for(3s);
    CHECK(Jobs::found(findings, "ucx.refused")
              .ends_with("no endpoint to peer 10.0.0.8: Destination is unreachable"));
    CHECK(Jobs::found(findings, "ucx.failures").starts_with("2 endpoints failed within 10 min"));
}

TEST_CASE("when a job has ended its findings stay for a while, and then nothing of it") {
    Jobs host;
    {
        auto process = host.process();
        auto said = of_rank(3, {{"tcp/eth0", 1}});
        said.failed = 1;
        CHECK(host.say(process, said) == done);
        CHECK(host.look_for(20s).size() == 2);
    }
    CHECK(host.book.jobs().empty());
    CHECK(Jobs::found(host.look_for(5min), "ucx.failures") != "none");
    CHECK(host.look_for(10min).empty());
    const auto views = host.judge.view(host.sample.now);
    CHECK(std::none_of(views.begin(), views.end(),
                       [](const RuleView& one) { return one.component == "job12"; }));
}

TEST_CASE("one job is kept apart from what another user claims of it, and from its earlier start") {
    Jobs host;
    auto owner = host.process(), liar = host.process(1001), older = host.process();
    auto said = of_rank(0, {{"tcp/eth0", 1}});
    CHECK(host.say(owner, said) == done);
    CHECK(host.say(liar, said) == done);
    CHECK(host.say(older, said) == done);
    said.epoch = 1;
    CHECK(host.say(owner, said) == done);
    std::vector<std::string> names;
    for (const auto& job : host.book.jobs())
        names.push_back(job.name);
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"job12.uid1000.0", "job12.uid1000.1", "job12.uid1001.0"});
}

TEST_CASE("a user's processes and jobs are bounded, and others find room") {
    Jobs host;
    std::vector<JobSession> flood;
    for (std::size_t i = 0; i <= UcxBook::most_speakers_a_uid; ++i) {
        flood.push_back(host.process());
        const auto answer = host.say(flood.back(), of_rank(0, {}));
        CHECK((answer == done) == (i < UcxBook::most_speakers_a_uid));
    }
    auto other = host.process(1001);
    CHECK(host.say(other, of_rank(0, {})) == done);
    flood.clear();
    CHECK(host.book.jobs().size() == 1);
    auto one = host.process();
    flood.reserve(UcxBook::most_jobs_a_uid + 1);
    for (std::size_t i = 0; i <= UcxBook::most_jobs_a_uid; ++i) {
        flood.push_back(host.process());
        auto said = of_rank(0, {});
        said.job = base::JobId(static_cast<std::uint32_t>(100 + i));
        CHECK((host.say(flood.back(), said) == done) == (i < UcxBook::most_jobs_a_uid));
    }
}

TEST_CASE("garbage in a job's words is refused, or is shown as it is, and harms nobody") {
    Jobs host;
    auto process = host.process();
    CHECK(process.answer(R"({"op":"ucx"})", base::now()).starts_with("{\"ok\":false"));
    CHECK(process.answer(R"({"op":"ucx","job":12,"paths":[{"over":"x"}]})", base::now())
              .starts_with("{\"ok\":false"));
    CHECK(process.answer(R"({"op":"ucx","job":12,"failed":-1})", base::now()).starts_with("{\"ok\":false"));
    CHECK(process.answer(R"({"op":"ucx","job":12,"tls":")" + std::string(300, 'x') + "\"}", base::now())
              .starts_with("{\"ok\":false"));
    CHECK(host.look_for(3s).empty());
    auto said = of_rank(0, std::vector<JobUcx::Path>(16, {"tcp/" + std::string(150, 'e'), INT64_MAX}));
    for (const std::uint64_t value : {std::uint64_t{INT64_MAX}, std::uint64_t{0},
                                      std::uint64_t{INT64_MAX / 2}, std::uint64_t{INT64_MAX}}) {
        said.failed = said.timeouts = said.refused = said.resent = value;
        CHECK(host.say(process, said) == done);
        for (const auto& finding : host.look_for(12s)) {
            CHECK(finding.severity == Severity::info);
            CHECK(finding.evidence.size() <= 500);
        }
    }
}

TEST_CASE("words of several bytes a character are never cut in the middle") {
    Jobs host;
    auto process = host.process();
    std::string word;
    while (word.size() < 150)
        word += "\xc3\xa9";
    auto said = of_rank(0, {{"tcp/" + word, 1}, {"tcp/x" + word, 1}, {"tcp/yz" + word, 1}});
    said.failed = 1;
    said.last = said.devices = said.unseen = word;
    CHECK(host.say(process, said) == done);
    const auto findings = host.look_for(70s);
    CHECK(findings.size() == 3);
    for (const auto& finding : findings)
        CHECK(std::all_of(finding.evidence.begin(), finding.evidence.end(),
                          [](unsigned char c) { return c >= 0x20 && c < 0x7f; }));
}

TEST_CASE("UCX's statistics say what went over TCP and what was dropped, by process and rail") {
    Jobs host;
    const JobKey job{base::JobId(12), 0, 1000};
    REQUIRE(host.book.join(job));
    std::uint64_t time = 0;
    probe::UcxStatistics said{"n001:4711",
                              {{"eth0", {100, 0, 0}}, {"mlx5_3:1", {1, 2, 0}}, {"memory", {7, 7, 0}}}};
    {
        UcxIntake intake(host.book, job);
        const auto send = [&] {
            for (const auto& datagram : probe::ucx_datagrams(probe::ucx_message(said), ++time))
                intake.take(4000, datagram, base::now());
        };
        CHECK(host.look_for(2s).empty());
        send();
        CHECK(host.look_for(2s).empty());
        said.devices["eth0"].sent += 1'000'000'001;
        said.devices["mlx5_3:1"] = {9'000'000'000, 9'000'000'000, 1001};
        send();
        const auto findings = host.look_for(2s);
        CHECK(Jobs::found(findings, "ucx.tcp_bytes") ==
              "1000000101 bytes went over TCP within 1 min 0 s; the last: process n001:4711 over eth0");
        CHECK(Jobs::found(findings, "ucx.dropped") ==
              "1001 packets were dropped, and sent again, within 1 min 0 s; the last: process n001:4711 on "
              "rail mlx5_3:1");
        // Closed endpoints are no longer counted, another process at the port begins anew: nothing is counted
        // twice.
        said.devices["eth0"].sent = 5;
        send();
        said.process = "n001:4712";
        send();
        CHECK(host.book.jobs().at(0).tcp_bytes->total == 1'000'000'106);
        intake.take(4000, std::vector<std::byte>(100, std::byte{1}), base::now());
    }
    CHECK(host.book.jobs().empty());
}

TEST_CASE("a UDP port has an owner, by the kernel's table") {
    constexpr std::string_view table = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when "
                                       "retrnsmt   uid  timeout inode ref pointer drops\n"
                                       "  123: 0100007F:BC83 0100007F:946F 01 00000000:00000000 00:00000000 "
                                       "00000000  1000        0 4711 2 0000000000000000 0\n"
                                       "  124: 0A00000A:0035 00000000:0000 07 00000000:00000000 00:00000000 "
                                       "00000000    77        0 4712 2 0000000000000000 0\n"
                                       "  125: 00000000:0044 00000000:0000 07 00000000:00000000 00:00000000 "
                                       "00000000     0        0 4713 2 0000000000000000 0\n";
    CHECK(owner_of_udp(table, 0xBC83) == 1000);
    CHECK(owner_of_udp(table, 0x44) == 0);
    CHECK_FALSE(owner_of_udp(table, 0x35)); // not of loopback
    CHECK_FALSE(owner_of_udp(table, 1));
    CHECK_FALSE(owner_of_udp("", 1));
    for (std::size_t length = 0; length < table.size(); ++length)
        static_cast<void>(owner_of_udp(table.substr(0, length), 0x44));
}

TEST_CASE("a port takes statistics of the job's own user alone, and goes with who asked for it") {
    Jobs host;
    auto root = host.process(0), user = host.process(::geteuid() + 1);
    const auto ask = [](std::uint32_t uid) {
        return R"({"op":"stats","job":12,"uid":)" + std::to_string(uid) + "}";
    };
    CHECK(user.answer(ask(1000), base::now()).find("only root") != std::string::npos);
    CHECK(user.statistics() == nullptr);
    const base::UniqueFd sender(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    probe::UcxStatistics said{"n001:4711", {{"eth0", {100, 0, 0}}}};
    std::uint64_t time = 0;
    // What the sender's socket sends is there when sendto() returns: loopback has no other queue.
    const auto counted = [&](std::uint32_t uid) {
        CHECK(root.answer(ask(uid), base::now()).find("\"port\":") != std::string::npos);
        auto* port = root.statistics();
        REQUIRE(port != nullptr);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        to.sin_port = htons(port->number());
        for (const auto& datagram : probe::ucx_datagrams(probe::ucx_message(said), ++time))
            REQUIRE(::sendto(sender.get(), datagram.data(), datagram.size(), 0,
                             reinterpret_cast<sockaddr*>(&to),
                             sizeof to) == static_cast<ssize_t>(datagram.size()));
        port->receive(base::now());
        static_cast<void>(host.book.jobs());
        const auto jobs = host.book.jobs();
        REQUIRE(jobs.size() == 1);
        return jobs[0].tcp_bytes ? jobs[0].tcp_bytes->total : 0;
    };
    CHECK(counted(::geteuid()) == 100);
    CHECK(counted(::geteuid() + 1) == 0);
    { const auto gone = std::move(root); }
    CHECK(host.book.jobs().empty());
}
