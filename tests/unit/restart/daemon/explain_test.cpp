// What railctl explain prints of the costs that a decision weighed.
#include "restart/ctl/show.hpp"
#include "restart/wire/status.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

namespace {

restart::JobExplanation weighed() {
    restart::JobExplanation explanation;
    explanation.time = base::time_from_seconds(1'700'000'000);
    explanation.job.emplace();
    explanation.job->id = base::JobId(12);
    explanation.job->name = "12";
    explanation.job->state = "running";
    explanation.job->start = explanation.time;
    explanation.job->restart = "auto";
    auto& incident = explanation.incidents.emplace_back();
    incident.id = "i-3";
    incident.phase = "verifying";
    incident.host = "n002";
    incident.opened = explanation.time;
    incident.what = "mlx5_0:1 ib.counter.symbol_error";
    auto& job = incident.jobs.emplace_back();
    job.id = base::JobId(12);
    job.cost = restart::JobCostStatus{0.02,
                                      "ib.counter.symbol_error@mlx5_0:1",
                                      32,
                                      6840s,
                                      "its time limit",
                                      1.216,
                                      9.6,
                                      {{"save", 0.5, "measured"},
                                       {"requeue", 0.1, "[restart] requeue_time"},
                                       {"restart", 1, "[restart] restart_time"},
                                       {"lost work", 8, "since its last checkpoint"}}};
    return explanation;
}

} // namespace

TEST_CASE("explain shows what waiting and moving cost, term by term") {
    const auto shown = restart::show(weighed());
    REQUIRE(shown);
    const auto from = shown->find("\ni-3: it stays");
    REQUIRE(from != std::string::npos);
    CHECK(shown->substr(from, shown->find("\n\n", from) - from) ==
          "\ni-3: it stays, which is judged again as time passes\n"
          "COST         NODE-HOURS  FROM\n"
          "waiting      1.2         2 % of 32 nodes for 1 h 54 min (its time limit): "
          "ib.counter.symbol_error@mlx5_0:1\n"
          "moving       9.6         the sum of what follows\n"
          "  save       0.5         measured\n"
          "  requeue    0.1         [restart] requeue_time\n"
          "  restart    1.0         [restart] restart_time\n"
          "  lost work  8.0         since its last checkpoint");
}

TEST_CASE("of a job that has ended is said whose it was, and how it ended where that is known") {
    restart::JobExplanation sent;
    sent.time = base::time_from_seconds(1'700'000'000);
    sent.ended = restart::EndedJobStatus{
        "12_3", 1000, "FAILED, exit status 3", sent.time - 2h, sent.time - 30min, {"n010", "n002", "n001"}};
    auto read = restart::JobExplanation::from_json(sent.to_json());
    REQUIRE(read);
    CHECK(read->ended == sent.ended);
    auto shown = restart::show(*read);
    REQUIRE(shown);
    CHECK_THAT(*shown, Catch::StartsWith("job 12_3, user 1000: FAILED, exit status 3 at ") &&
                           Catch::Contains(", 1 h 30 min after its last start, on n[001-002,010]\n"));
    sent.ended->nodes.clear();
    sent.ended->how = "CANCELLED";
    CHECK_THAT(*restart::show(sent), Catch::StartsWith("job 12_3, user 1000: CANCELLED at ") &&
                                         Catch::Contains(", before it had nodes\n"));
    sent.ended->how.clear();
    CHECK_THAT(*restart::show(sent),
               Catch::StartsWith("job 12_3, user 1000: no longer in the resource manager, whose accounting"));
}

TEST_CASE("the costs come over the wire as they were sent") {
    const auto sent = weighed();
    const auto read = restart::JobExplanation::from_json(sent.to_json());
    REQUIRE(read);
    CHECK(read->incidents == sent.incidents);
}

TEST_CASE("explain shows what other hosts see of one whose agent is silent") {
    restart::HostExplanation explanation;
    explanation.time = base::time_from_seconds(1'700'000'000);
    auto& host = explanation.host.emplace();
    host.name = "n002";
    host.state = "IDLE";
    host.peers = {{"n005", base::Knocked::answers, explanation.time - 4s},
                  {"n012", base::Knocked::unreached, explanation.time - 4s},
                  {"n020", base::Knocked::unknown, {}}};
    const auto read = restart::HostExplanation::from_json(explanation.to_json());
    REQUIRE(read);
    CHECK(read->host->peers == host.peers);
    const auto shown = restart::show(*read);
    CHECK(shown.find("\nseen by n005: it answers, 4.0 s ago\n"
                     "seen by n012: not reached, though others are, 4.0 s ago\n"
                     "seen by n020: it has not said yet\n") != std::string::npos);
}
