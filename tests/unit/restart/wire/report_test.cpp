#include "restart/wire/report.hpp"
#include "restart/wire/status.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using restart::FabricReport;
using restart::Reply;
using restart::Report;

namespace {

constexpr std::string_view heartbeat =
    R"({"v":1,"host":"n001","boot_id":"b1","not_watching":["kmsg: no such file"],
 "slurmd":{"plugins":["select_rail"]},
 "findings":[{"rule":"gpu.throttle.hw_power_brake","component":"gpu3","severity":"evict",
  "since":1699999995.0,"evidence":"0x80 for 5.2 s"}],
 "jobs":[{"id":12,"epoch":1,"uid":1000,
  "ckpt":{"step":400,"path":"/scratch/a","committed":1700000001.5,"cost_s":0.8,"bytes":123}},
         {"id":13,"epoch":0,"uid":1000}],
 "from_the_future":{"is":"passed over"}})";

std::string with(std::string_view old_text, std::string_view new_text, std::string_view body = heartbeat) {
    std::string text(body);
    const auto at = text.find(old_text);
    REQUIRE(at != std::string::npos);
    return text.replace(at, old_text.size(), new_text);
}

template <class T> std::string refused(const std::string& body) {
    const auto read = T::from_json(body);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == base::Code::input);
    return read.error().text;
}

std::string repeated(std::string_view element, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text.append(i == 0 ? "" : ",").append(element);
    return text;
}

} // namespace

TEST_CASE("a heartbeat is read whole and written so that it reads back") {
    const auto report = Report::from_json(heartbeat);
    REQUIRE(report);
    CHECK(report->host == "n001");
    CHECK(report->not_watching == std::vector<std::string>{"kmsg: no such file"});
    CHECK(report->slurmd == base::SlurmdRecord{{"select_rail"}});
    CHECK(report->findings.at(0).since == base::time_from_seconds(1699999995));
    CHECK(report->findings.at(0).severity == restart::Severity::evict);
    REQUIRE(report->jobs.size() == 2);
    REQUIRE(report->jobs[0].ckpt);
    CHECK(report->jobs[0].ckpt->step == 400);
    CHECK(report->jobs[0].ckpt->cost_s == 0.8);
    CHECK_FALSE(report->jobs[1].ckpt);

    const auto again = Report::from_json(report->to_json());
    REQUIRE(again);
    CHECK(*again == *report);
}

TEST_CASE("a job is a plain number, and of an array's element a text") {
    const auto plain = Report::from_json(with("\"id\":12", "\"id\":4294967294"));
    REQUIRE(plain);
    CHECK(plain->jobs.at(0).id == base::JobId(4294967294U));
    CHECK(plain->to_json().find("\"id\":4294967294,") != std::string::npos);
    const auto element = Report::from_json(with("\"id\":12", "\"id\":\"12[3]\""));
    REQUIRE(element);
    CHECK(element->jobs.at(0).id == base::JobId(12U, 3));
    CHECK(element->to_json().find("\"id\":\"12[3]\",") != std::string::npos);
    CHECK(*Report::from_json(element->to_json()) == *element);
    CHECK_THAT(refused<Report>(with("\"id\":12", "\"id\":0")),
               Catch::StartsWith("jobs[0].id: must be above 0"));

    // None is 0, which an older reader takes for none, too; null will do.
    restart::History history;
    history.timeline.push_back({base::Time{}, "signal", "i-1", "n001", {}, "", "silent"});
    history.timeline.push_back({base::Time{}, "decision", "i-1", "n001", base::JobId(12U, 3), "", "requeue"});
    const auto text = history.to_json();
    CHECK(text.find("\"job\":0,") != std::string::npos);
    CHECK(text.find("\"job\":\"12[3]\",") != std::string::npos);
    CHECK(restart::History::from_json(text)->timeline == history.timeline);
    auto null = text;
    null.replace(null.find("\"job\":0"), 7, "\"job\":null");
    CHECK(restart::History::from_json(null)->timeline == history.timeline);
}

TEST_CASE("the least heartbeat is small") {
    Report report;
    report.host = "n001";
    CHECK(report.to_json() == R"({"v":1,"host":"n001","boot_id":"","findings":[]})");
    CHECK(*Report::from_json(report.to_json()) == report);
    report.leaving = true;
    CHECK(*Report::from_json(report.to_json()) == report);
}

TEST_CASE("what an agent is asked to look at, and what it saw, travel beside the rest") {
    auto report = *Report::from_json(heartbeat);
    CHECK_FALSE(report.looks); // of an older release
    CHECK_FALSE(report.tells);
    report.looks = report.tells = report.wants_witnesses = true;
    report.sights = {{7, "n002", base::Knocked::unreached}, {8, "n003", base::Knocked::answers}};
    CHECK(*Report::from_json(report.to_json()) == report);
    CHECK(report.to_json().find(R"("sights":[{"number":7,"host":"n002","saw":"unreached"})") !=
          std::string::npos);
    const auto text = report.to_json();
    CHECK_THAT(refused<Report>(with("\"saw\":\"answers\"", "\"saw\":\"burns\"", text)),
               Catch::StartsWith("sights[1].saw: must be one of"));
    CHECK_THAT(refused<Report>(with("\"host\":\"n003\"", "\"host\":\"n;3\"", text)),
               Catch::StartsWith("sights[1].host: must be a host's name"));

    Reply reply;
    CHECK(reply.to_json() == R"({"v":1,"jobs":[]})");
    reply.looks = {{7, "n002", "10.0.0.2", 6818}, {9, "n004", "fe80::4%eth0", 6818}};
    reply.tell = true;
    const auto asked = reply.to_json();
    CHECK(*Reply::from_json(asked) == reply);
    CHECK_THAT(refused<Reply>(with("\"10.0.0.2\"", "\"10.0.0.2; x\"", asked)),
               Catch::StartsWith("looks[0]: address: must be a name or an address"));
    CHECK_THAT(refused<Reply>(with("6818", "0", asked)), Catch::StartsWith("looks[0]: port: is not between"));
    reply.looks.resize(restart::most_looks + 1, reply.looks.front());
    CHECK_THAT(refused<Reply>(reply.to_json()), Catch::StartsWith("looks: holds more than 16"));
}

TEST_CASE("a bad heartbeat is refused with the field") {
    CHECK_THAT(refused<Report>("{"), Catch::StartsWith("line 1"));
    CHECK(refused<Report>("[]") == "top level: an object is wanted, not an array");
    CHECK_THAT(refused<Report>(with("\"v\":1", "\"v\":2")),
               Catch::StartsWith("v: this report is of version 2"));
    CHECK(refused<Report>(with("\"host\":\"n001\",", "")) == "host: is missing");
    CHECK_THAT(refused<Report>(with("\"n001\"", "\"n001;reboot\"")),
               Catch::StartsWith("host: must be a host's name"));
    CHECK_THAT(refused<Report>(with("\"n001\"", "\"n[1-9]\"")),
               Catch::StartsWith("host: must be a host's name"));
    CHECK_THAT(refused<Report>(with("\"n001\"", "\"\"")), Catch::StartsWith("host: must be"));
    CHECK_THAT(refused<Report>(with("\"n001\"", '"' + std::string(65, 'n') + '"')),
               Catch::StartsWith("host: is longer than 64"));
    CHECK(refused<Report>(with("\"evict\"", "\"explode\"")) ==
          "findings[0].severity: must be one of info, warn, evict, fatal");
    CHECK(refused<Report>(with("0x80 for", "0x80\\nfor")) ==
          "findings[0].evidence: holds a control character");
    CHECK_THAT(refused<Report>(with("gpu.throttle.hw_power_brake", "gpu throttle")),
               Catch::StartsWith("findings[0].rule: must be"));
    CHECK_THAT(refused<Report>(with("\"id\":12", "\"id\":-12")),
               Catch::StartsWith("jobs[0].id: -12 is not between"));
    CHECK_THAT(refused<Report>(with("\"id\":12", "\"id\":9223372036854775808")),
               Catch::StartsWith("jobs[0].id: "));
    CHECK_THAT(refused<Report>(with("\"id\":12", "\"id\":\"12\"")),
               Catch::StartsWith("jobs[0].id: a whole number"));
    CHECK(refused<Report>(with("/scratch/a", "scratch/a")) == "jobs[0].ckpt.path: must be absolute");
    CHECK_THAT(refused<Report>(with("\"cost_s\":0.8", "\"cost_s\":-1")),
               Catch::StartsWith("jobs[0].ckpt.cost_s: is not"));
    CHECK_THAT(refused<Report>(with("\"cost_s\":0.8", "\"cost_s\":1,\"safe_s\":-1")),
               Catch::StartsWith("jobs[0].ckpt.safe_s: is not"));
    CHECK_THAT(refused<Report>(with("\"cost_s\":0.8", "\"cost_s\":1e999")),
               Catch::Contains("number") || Catch::Contains("exponent"));
    CHECK(refused<Report>(with("1699999995.0", "1e300")) == "findings[0].since: is no time in seconds");
    CHECK_THAT(refused<Report>(with("\"step\":400", "\"step\":1.5")),
               Catch::StartsWith("jobs[0].ckpt.step: a whole number"));
}

TEST_CASE("a heartbeat's lists are bounded") {
    const auto job = R"({"id":3,"epoch":0,"uid":0})";
    const auto jobs = [&](std::size_t count) {
        return R"({"v":1,"host":"h","boot_id":"","findings":[],"jobs":[)" + repeated(job, count) + "]}";
    };
    CHECK(Report::from_json(jobs(1024)));
    CHECK(refused<Report>(jobs(1025)) == "jobs: holds more than 1024 elements");
    CHECK(refused<Report>(with("[\"kmsg: no such file\"]", "[" + repeated("\"x\"", 33) + "]")) ==
          "not_watching: holds more than 32 elements");
    CHECK(refused<Report>(with("0x80 for 5.2 s", std::string(513, 'x'))) ==
          "findings[0].evidence: is longer than 512 bytes");
    CHECK(refused<Report>(with("kmsg: no such file", std::string(5000, 'x'))) ==
          "not_watching[0]: is longer than 4096 bytes");
    const auto sweep = [](const std::string& host) {
        return R"({"v":1,"hosts":{")" + host +
               R"(":{"links_up":0,"links_total":8}},"hosts_seen":1,"complete":true})";
    };
    CHECK(refused<FabricReport>(sweep(std::string(65, 'x'))) ==
          "hosts: a key is not a name of 1 to 64 bytes or not a number");
}

TEST_CASE("any cut heartbeat is an error, never a crash") {
    const std::string whole(heartbeat);
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK_FALSE(Report::from_json(whole.substr(0, length)));
}

TEST_CASE("a reply carries null where nothing is asked") {
    Reply reply;
    reply.jobs.push_back({12, 1, 37.5, std::nullopt, std::nullopt});
    CHECK(reply.to_json() ==
          R"({"v":1,"jobs":[{"id":12,"epoch":1,"interval_s":3.75E1,"save_by":null,"incident":null}]})");
    CHECK(*Reply::from_json(reply.to_json()) == reply);
    reply.jobs[0].save_by = base::time_from_seconds(1700000009);
    reply.jobs[0].incident = "i-7";
    CHECK(*Reply::from_json(reply.to_json()) == reply);
    CHECK_THAT(refused<Reply>(
                   R"({"v":1,"jobs":[{"id":1,"epoch":0,"interval_s":0,"save_by":null,"incident":null}]})"),
               Catch::StartsWith("jobs[0].interval_s"));
}

TEST_CASE("a fabric report names only hosts with links missing") {
    const auto text =
        R"({"v":1,"hosts":{"n003":{"links_up":0,"links_total":8}},"hosts_seen":16,"complete":true})";
    const auto report = FabricReport::from_json(text);
    REQUIRE(report);
    CHECK(report->hosts.at("n003").links_total == 8);
    CHECK(*FabricReport::from_json(report->to_json()) == *report);
    CHECK(refused<FabricReport>(with("\"links_up\":0", "\"links_up\":9", text)) ==
          "hosts.n003.links_up: is more than links_total");
    CHECK_THAT(refused<FabricReport>(with("n003", "n 3", text)), Catch::StartsWith("hosts: a key must be"));
    CHECK(refused<FabricReport>(with("true", "1", text)) ==
          "complete: true or false is wanted, not a number");
    CHECK(refused<FabricReport>(with("\"complete\":true", "\"complete\":true,\"age_s\":-1", text)) ==
          "age_s: is not between 0 and 86400 seconds");
}

TEST_CASE("a report of changes names hosts whose links are all up again, too") {
    FabricReport report;
    report.changes = true;
    report.age_s = 0.25;
    report.hosts["n003"] = {8, 8};
    const auto text = report.to_json();
    CHECK(text.find(R"("complete":false,"changes":true)") != std::string::npos);
    CHECK(*FabricReport::from_json(text) == report);
}

TEST_CASE("a fabric report carries findings of links, which move nobody and name hosts only") {
    FabricReport report;
    report.changes = true;
    report.findings.emplace();
    CHECK(*FabricReport::from_json(report.to_json()) ==
          report); // none hold, which is not the same as no word
    CHECK_FALSE(FabricReport::from_json(FabricReport().to_json())->findings);
    report.findings->push_back({.rule = "link.symbol_errors",
                                .severity = restart::Severity::warn,
                                .since = base::time_from_seconds(1700000000),
                                .evidence = "leaf1 port 3: 20 symbol errors",
                                .a = "n003",
                                .a_port = "mlx5_1:1",
                                .b = "leaf1",
                                .b_port = "3",
                                .rail = 1,
                                .unit = "su1",
                                .pod = "pod1",
                                .hosts = "n[003-004]"});
    report.counters = {1280, 1279, 0.035};
    const auto text = report.to_json();
    CHECK(*FabricReport::from_json(text) == report);
    CHECK(refused<FabricReport>(with("\"warn\"", "\"evict\"", text)) ==
          "findings[0].severity: must be info or warn: nothing of a link moves a job");
    CHECK(refused<FabricReport>(with("n[003-004]", "n3; reboot", text)) ==
          "findings[0].hosts: must be a list of hosts");
    CHECK_THAT(refused<FabricReport>(with("n[003-004]", "n[003-", text)),
               Catch::StartsWith("findings[0].hosts: "));
    CHECK(refused<FabricReport>(with("n[003-004]", "n[1-5000]", text)) ==
          "findings[0].hosts: names more than 4096 hosts");
    CHECK(refused<FabricReport>(with("link.symbol_errors", "a b", text)) ==
          "findings[0].rule: must be a rule's name");
    CHECK(refused<FabricReport>(with("1279", "1281", text)) == "counters.answered: is more than ports");
    report.findings->resize(restart::most_link_findings + 1, report.findings->front());
    CHECK_THAT(refused<FabricReport>(report.to_json()), Catch::Contains("holds more than 256 elements"));
}

TEST_CASE("what railrun runs and what it is to do come as they went, and name hosts only") {
    const auto body =
        with(R"({"id":13,"epoch":0,"uid":1000})",
             R"({"id":13,"epoch":0,"uid":1000,"run":{"launch":2,"hosts":"n[1-4]","spares":"n5"}})");
    const auto report = Report::from_json(body);
    REQUIRE(report);
    CHECK_FALSE(report->jobs[0].run);
    CHECK(report->jobs[1].run == restart::JobRun{2, "n[1-4]", "n5", false});
    CHECK(*Report::from_json(report->to_json()) == *report);
    CHECK_THAT(refused<Report>(with("n[1-4]", "n1 n2", body)),
               Catch::StartsWith("jobs[1].run: hosts: must be a list of hosts"));
    CHECK_THAT(refused<Report>(with("\"n5\"", "\"`id`\"", body)), Catch::StartsWith("jobs[1].run: spares"));
    CHECK_THAT(refused<Report>(with("n[1-4]", "", body)), Catch::StartsWith("jobs[1].run: hosts"));

    Reply reply;
    reply.jobs.push_back({13, 0, 37.5, {}, {}, restart::RunOrder{2, "n[1-3],n5", "i-7", true}, true});
    const auto again = Reply::from_json(reply.to_json());
    REQUIRE(again);
    CHECK(*again == reply);
    CHECK_THAT(refused<Reply>(with("n[1-3],n5", "n1;n2", reply.to_json())),
               Catch::StartsWith("jobs[0].order: hosts"));
    // To an older agent it is an answer without an order.
    reply.jobs[0].order.reset();
    reply.jobs[0].suspected = false;
    CHECK(reply.to_json().find("order") == std::string::npos);
}

TEST_CASE("a host's pace is reported whole, and numbers that none can be are refused") {
    using namespace restart;
    Report report;
    report.host = "n001";
    report.pace =
        HostPace{7,
                 30,
                 {{3, 1755, 2619, 512, 0.98, 63, 700, 0.73, 1390, 0, 0.71, 0.55}, {4, {}, {}, {}, {}, {}}},
                 {{"mlx5_0:1", 21'400, 88'100, 1.2e5, 0.5, 400}}};
    JobReport job;
    job.id = 12;
    job.nccl = NcclWord{9, {"communicator aa misses 1 ranks: rank 3"}, {{5, true, 0}, {-1, false, 7}}};
    job.ranks = {{24, 0.125, 0.43}};
    job.stepped_s = 5.25;
    job.kept = Kept::ended;
    job.fault = ProgramFault{"gpu3", 31, 4711, "MMU Fault"};
    report.jobs.push_back(job);
    const auto read = Report::from_json(report.to_json());
    INFO((read ? "" : read.error().text));
    REQUIRE(read);
    CHECK(*read == report);
    // 8 GPUs and 8 ports are about 2 KB more.
    const auto before = report.to_json().size();
    report.pace->gpus.assign(8, report.pace->gpus[0]);
    report.pace->ports.assign(8, report.pace->ports[0]);
    CHECK(report.to_json().size() - before < 2'500);

    const auto refused = [](Report damaged) { return !Report::from_json(damaged.to_json()); };
    CHECK_FALSE(refused(report));
    for (const std::int32_t gpu : {-2, 1'024}) {
        auto damaged = report;
        damaged.jobs[0].nccl->here[0].gpu = gpu;
        CHECK(refused(damaged));
    }
    for (const double wrong : {-1.0, 1e300}) {
        auto damaged = report;
        damaged.pace->ports[2].mb_s = wrong;
        CHECK(refused(damaged));
        damaged = report;
        damaged.pace->gpus[2].sm_mhz = wrong;
        CHECK(refused(damaged));
        damaged = report;
        damaged.pace->gpus[2].capped = wrong;
        CHECK(refused(damaged));
        damaged = report;
        damaged.pace->seconds = wrong;
        CHECK(refused(damaged));
        damaged = report;
        damaged.jobs[0].ranks[0].waited = wrong;
        CHECK(refused(damaged));
    }
    auto damaged = report;
    damaged.pace->ports[0].port = "mlx5 0; reboot";
    CHECK(refused(damaged));
    damaged = report;
    damaged.pace->gpus.resize(most_paced_gpus + 1);
    CHECK(refused(damaged));
    damaged = report;
    damaged.jobs[0].ranks.resize(most_paced_ranks + 1);
    CHECK(refused(damaged));
    damaged = report;
    damaged.jobs[0].nccl->troubles = {std::string(longest_nccl_trouble + 1, 'x')};
    CHECK(refused(damaged));
    damaged = report;
    damaged.jobs[0].fault->gpu = "gpu 3; reboot";
    CHECK(refused(damaged));
    damaged = report;
    damaged.jobs[0].fault->text = std::string(longest_fault + 1, 'x');
    CHECK(refused(damaged));
    CHECK(rounded(1234.5) == 1230);
    CHECK(rounded(0.0123456) == 0.0123);
    CHECK(rounded(0) == 0);
}
