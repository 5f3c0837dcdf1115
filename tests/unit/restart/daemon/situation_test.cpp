#include "restart/daemon/situation.hpp"
#include "restart/daemon/why_writer.hpp"

#include "sched/say/words.hpp"
#include "unit/sched/grid.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <set>

using namespace restart;
using namespace std::chrono_literals;
using Use = base::HostState;
using Hosts = std::vector<std::uint32_t>;

namespace {

const base::Time now = base::time_from_seconds(1'772'367'600);

// Two units of four hosts n1 … n8, all idle and in partition batch.
struct Scene {
    sched::Placing placing{sched_test::grid(1, 2, 4)};
    RmQueue queue;
    View view; // of whoever asks

    Scene() {
        queue.read = now;
        for (const auto& host : placing.fabric.hosts) {
            QueueNode node;
            node.name = host.name;
            node.state = Use::free;
            node.cpus_idle = 16;
            queue.nodes.push_back(node);
            queue.partitions["batch"].push_back(host.name);
        }
    }
    QueueNode& node(std::size_t number) { return queue.nodes.at(number - 1); }
    // A waiting job of so many nodes that wants one unit.
    QueueJob& wait(base::JobId id, std::uint32_t nodes) {
        auto& job = queue.jobs.emplace_back();
        job.id = id;
        job.least = nodes;
        job.partitions = {"batch"};
        job.exclusive = true;
        job.waits_for = WaitsFor::hosts;
        job.why = "Resources";
        job.hints.span = sched::Span::unit;
        job.eligible = now;
        return job;
    }
    QueueJob& run(base::JobId id, const std::vector<std::string>& nodes, std::optional<base::Time> ends) {
        auto& job = wait(id, static_cast<std::uint32_t>(nodes.size()));
        job.phase = QueuePhase::placed;
        job.nodes = nodes;
        job.ends = ends;
        job.why.clear();
        job.start = now - 1h;
        job.eligible = job.start;
        for (auto& node : queue.nodes)
            if (std::count(nodes.begin(), nodes.end(), node.name) > 0) node.state = Use::busy;
        return job;
    }
    Situation of(base::JobId id) const {
        auto situation = situation_of(queue, placing, id, view);
        REQUIRE(situation);
        return *std::move(situation);
    }
    std::string sentence(base::JobId id) const { return sentence_of(of(id), placing); }
    std::string text(base::JobId id) const { return base::to_text(placement_json(of(id), placing)); }
};

} // namespace

TEST_CASE("a waiting job is set among its partition's hosts and the jobs that hold them") {
    Scene scene;
    scene.run(1, {"n1", "n2"}, now + 1h);
    scene.node(5).state = Use::drained;
    scene.node(5).reason = "railyard[i-3]: link errors";
    scene.queue.partitions["batch"].pop_back(); // n8
    auto& job = scene.wait(7, 3);
    job.excluded = {"n3", "nowhere"};
    const auto situation = scene.of(7);
    CHECK(situation.request.nodes == 3);
    CHECK(situation.request.span == sched::Span::unit);
    CHECK(situation.request.excluded == Hosts{2, 7});
    CHECK_FALSE(situation.request.shared);
    CHECK(situation.circumstances.holders.size() == 1);
    CHECK(situation.circumstances.remarks.why[4] == "link errors");
    CHECK(situation.circumstances.remarks.excluded == "excluded by the request or not in partition batch");
    const auto sentence = scene.sentence(7);
    CHECK(
        sentence.find("needs 3 nodes in one unit; the fullest, su2, has 2 free, 1 drained for link errors, 1 "
                      "excluded by the request or not in partition batch; job 1 ends at ") == 0);
    CHECK(sentence.find(" and makes it fit in unit su1") != std::string::npos);
    CHECK_FALSE(situation_of(scene.queue, scene.placing, 8, scene.view));
}

TEST_CASE("a job that starts again is explained with the hosts it had") {
    Scene scene;
    auto& job = scene.run(1, {"n5", "n7"}, now + 1h);
    job.hints = {};
    job.restarts = 1;
    job.had = {"n5", "n6"};
    auto situation = scene.of(1);
    CHECK(situation.request.had == Hosts{4, 5});
    CHECK(scene.text(1).find("1 of the 2 nodes it had before") != std::string::npos);
    job.hints.keep = false;
    CHECK(scene.of(1).request.had.empty());
    job.hints.keep.reset();
    job.had.clear(); // of LSF's queue
    CHECK(situation_of(scene.queue, scene.placing, 1, scene.view, {"n5", "elsewhere"})->request.had ==
          Hosts{4});
}

TEST_CASE("a job that took the place of others, or lost its own, is explained with that") {
    Scene scene;
    scene.run(1, {"n5", "n6"}, now + 1h).preempted = "takes the place of 1 of 3 jobs that may be preempted";
    CHECK(scene.of(1).notes ==
          std::vector<std::string>{"preemption: takes the place of 1 of 3 jobs that may be preempted"});
}

TEST_CASE("how many gangs stand before one, and why, where restartd keeps the queue") {
    Scene scene;
    scene.wait(1, 8).standing = restart::QueueStanding{50, 3, {}};
    CHECK(scene.of(1).notes.empty()); // the first
    scene.wait(2, 8).standing = restart::QueueStanding{40, 4, 0.333};
    CHECK(scene.of(2).notes ==
          std::vector<std::string>{
              "1 gang waits before it in LSF's order: 1 in queues of a higher priority; its "
              "user's priority in queue batch is 0.333"});
    scene.wait(3, 8).standing = restart::QueueStanding{40, 1, 0.02};
    scene.wait(4, 8).standing = restart::QueueStanding{40, 2, 0.01};
    CHECK(scene.of(4).notes == std::vector<std::string>{"3 gangs wait before it in LSF's order: 1 in queues "
                                                        "of a higher priority, 1 submitted later by users "
                                                        "who have had less of their shares (PRIORITY of "
                                                        "bqueues -r), 1 that LSF lists earlier; its user's "
                                                        "priority in queue batch is 0.010"});
    scene.wait(5, 1); // which nothing that restartd decides keeps waiting
    CHECK(scene.of(5).notes.empty());
}

TEST_CASE("of gangs that restartd places the first hundred are told why they wait, whatever they ask for") {
    Scene scene;
    scene.run(1, {"n1", "n2", "n5", "n6"}, now + 1h);
    std::set<base::JobId> told;
    WhyPlan plan;
    for (std::uint32_t place = 0; place < 110; ++place) { // listed by place, numbered backwards
        auto& job = scene.wait(base::JobId(500 - place), 3);
        job.hints = {};
        job.standing = restart::QueueStanding{40, place, {}};
    }
    for (int pass = 0; pass < 20; ++pass)
        for (const auto& change : plan.due(scene.queue, scene.placing, true, restart::RmPrivacy{})) {
            told.insert(change.job);
            for (auto& job : scene.queue.jobs)
                if (job.id == change.job) job.shown = sched::as_phrase(change.text, sched::longest_shown);
        }
    CHECK(told.size() == 100);
    CHECK(told.contains(500));
    CHECK_FALSE(told.contains(400));
}

TEST_CASE("what is private stands in no explanation of another's job") {
    Scene scene;
    constexpr RmPrivacy jobs{.jobs = true}, nodes{.nodes = true};
    scene.run(1, {"n1", "n2"}, now + 1h).owner = {1002, "physics"};
    scene.run(2, {"n3"}, now + 2h).owner = {1001, ""};
    scene.node(5).state = Use::drained;
    scene.node(5).reason = "railyard[i-3]: link errors";
    scene.wait(7, 4).owner = {1001, ""};
    CHECK(scene.sentence(7).find("; job 2 ends at ") != std::string::npos);
    SECTION("of which job it waits for") {
        scene.queue.jobs.at(1).owner.uid = 1002;
        scene.view = view_of_owner({1001, ""}, jobs);
        CHECK(scene.sentence(7).find("; another job ends at ") != std::string::npos);
        CHECK(scene.text(7).find("\"job\":null") != std::string::npos);
        CHECK(scene.sentence(7).find("drained for link errors") != std::string::npos);
        scene.view.accounts = {"physics"};
        scene.queue.jobs.at(1).owner.account = "physics";
        CHECK(scene.sentence(7).find("; job 2 ends at ") != std::string::npos); // a coordinator's question
    }
    SECTION("nor of jobs without a limit") {
        scene.queue.jobs.at(0).ends.reset();
        scene.queue.jobs.at(1).ends.reset();
        CHECK(scene.sentence(7).find("; it fits when jobs 1 and 2 have ended, which have no") !=
              std::string::npos);
        scene.view = view_of_owner({1001, ""}, jobs);
        CHECK(scene.sentence(7).find("; it fits when job 2 and another job have ended, which have no") !=
              std::string::npos);
        CHECK(scene.text(7).find("\"unlimited\":[2]") != std::string::npos);
        scene.view.uid = 1003;
        CHECK(scene.sentence(7).find("; it fits when 2 other jobs have ended, which have no") !=
              std::string::npos);
    }
    SECTION("nor of why hosts are out of use") {
        scene.view = view_of_owner({1001, ""}, nodes);
        CHECK(scene.sentence(7).find("1 drained") != std::string::npos);
        CHECK(scene.sentence(7).find("link errors") == std::string::npos);
        CHECK(scene.sentence(7).find("; job 2 ends at ") != std::string::npos);
    }
    SECTION("and its comment says what its owner may see") {
        scene.queue.jobs.at(1).owner.uid = 1002;
        const auto comment = [&](const std::optional<RmPrivacy>& hides) {
            return WhyPlan().due(scene.queue, scene.placing, true, hides).at(0).text;
        };
        CHECK(comment(RmPrivacy{}).find("; job 2 ends at ") != std::string::npos);
        CHECK(comment(jobs).find("; another job ends at ") != std::string::npos);
        CHECK(comment({}).find("; another job ends at ") != std::string::npos); // not known yet
        CHECK(comment({}).find("link errors") == std::string::npos);
    }
}

TEST_CASE("what hosts do counts as it does for this job") {
    Scene scene;
    scene.node(1).reserved = true;
    scene.node(2).state = Use::mixed;
    scene.node(2).cpus_idle = 4;
    auto& job = scene.wait(7, 2);
    job.exclusive = false;
    job.cpus_per_node = 8;
    auto situation = scene.of(7);
    CHECK(situation.request.shared);
    CHECK(situation.snapshot.states[0] == Use::drained);
    CHECK(situation.circumstances.remarks.why[0] == "a reservation");
    CHECK(situation.snapshot.states[1] == Use::busy);
    job.cpus_per_node = 4;
    job.reservation = "mine";
    situation = scene.of(7);
    CHECK(situation.snapshot.states[0] == Use::free);
    CHECK(situation.snapshot.states[1] == Use::mixed);
    scene.queue.nodes.erase(scene.queue.nodes.begin()); // Slurm does not know it
    CHECK(scene.of(7).snapshot.states[0] == Use::down);
}

TEST_CASE("a wish is counted from when the job might start, and is over after its time") {
    Scene scene;
    auto& job = scene.wait(7, 2);
    job.hints.span_wait = 2h;
    job.eligible = now - 30min;
    CHECK(scene.of(7).circumstances.wish_ends == now + 90min);
    job.eligible = now - 3h;
    CHECK(scene.of(7).request.span == sched::Span::any);
    CHECK_FALSE(scene.of(7).circumstances.wish_ends);
    job.eligible = now + 1h; // begins later
    CHECK(scene.of(7).circumstances.wish_ends == now + 2h);
}

TEST_CASE("what Slurm holds a job back for beside hosts is told apart from its turn") {
    Scene scene;
    auto& job = scene.wait(7, 2);
    job.why = "Priority";
    CHECK(scene.sentence(7) == "would fit now, in unit su1: waits for its turn (Priority)");
    job.start = now + 5min;
    CHECK(scene.sentence(7) == "would fit now, in unit su1: waits for its turn (Priority)");
    CHECK(scene.text(7).find(
              "would fit now, in unit su1: waits for its turn (Priority), which is expected at " +
              base::moment(job.start, now) + "\"") != std::string::npos);
    job.start = {};
    job.why = "None"; // not looked at yet
    job.waits_for = WaitsFor::unknown;
    CHECK(scene.sentence(7) == "would fit now, in unit su1: waits for its turn");
    job.why = "Dependency";
    job.waits_for = WaitsFor::other;
    CHECK(scene.sentence(7) == "would fit now, in unit su1: held back by something else (Dependency)");
    job.least = 5;
    CHECK(scene.sentence(7).ends_with(
        "this job can never run with --rail-span=unit; it is held back by something "
        "else, too (Dependency)"));
}

TEST_CASE("hosts that placement is told to avoid are avoided here, too") {
    Scene scene;
    scene.node(1).health = 0.6F;
    scene.wait(7, 2);
    const auto text = scene.text(7);
    CHECK(text.find("\"nodes_then\":[\"n2\",\"n3\"]") != std::string::npos);
    scene.run(1, {"n1", "n2"}, now + 1h);
    CHECK(scene.text(1).find("\"decided\":\"avoidance\"") != std::string::npos);
}

TEST_CASE("a host that has not answered a ping is down, unless its agent reports") {
    Scene scene;
    scene.wait(7, 4);
    for (const auto number : {2U, 5U}) {
        scene.node(number).not_responding = true;
        scene.node(number).heard = number == 5; // it was resumed a moment ago
    }
    CHECK(scene.sentence(7).starts_with("would fit now, in unit su2"));
    scene.node(5).heard = false;
    CHECK(scene.sentence(7).find("has 3 free, 1 down") != std::string::npos);
    scene.node(5).state = Use::drained;
    CHECK(scene.of(7).snapshot.states[4] == Use::drained);
}

TEST_CASE("a job of one node on a weak host is told who chose it") {
    Scene scene;
    scene.queue.leaves_small = true;
    scene.node(3).health = 0.4F;
    auto& job = scene.run(1, {"n3"}, now + 1h);
    job.hints = {};
    const auto notes = scene.of(1).notes;
    REQUIRE(notes.size() == 1);
    CHECK(notes[0] ==
          "n3 is of reduced health (0.40, railctl explain n3), which the resource manager does not "
          "know: it alone chooses for jobs of one node without flags, unless [placement] pack is "
          "\"all\"");
    CHECK(scene.text(1).find("for sounder nodes (0.000, there 0.600)") != std::string::npos);
    job.hints.span = sched::Span::unit; // Railyard chose
    CHECK(scene.of(1).notes.empty());
    job.hints = {};
    scene.queue.leaves_small = false;
    CHECK(scene.of(1).notes.empty());
    scene.queue.leaves_small = true;
    job.required = {"n3"};
    CHECK(scene.of(1).notes.empty());
    scene.node(3).health = 1;
    job.required.clear();
    CHECK(scene.of(1).notes.empty());
}

TEST_CASE("hosts kept free for restarts are kept from a first start only") {
    Scene scene;
    scene.placing.spare_floor = 7;
    auto& job = scene.wait(7, 2);
    CHECK(scene.sentence(7).find("are kept free for restarts") != std::string::npos);
    job.restarts = 1;
    CHECK(scene.sentence(7).starts_with("would fit now"));
}

TEST_CASE("a placed job is explained by its hosts, whatever was asked") {
    Scene scene;
    scene.run(1, {"n1", "n2"}, now + 1h);
    CHECK(scene.text(1).find("\"kind\":\"placed\"") != std::string::npos);
    auto& split = scene.run(2, {"n3", "n5", "elsewhere"}, {});
    split.constraint = "gpu80";
    const auto text = scene.text(2);
    CHECK(text.find("would be better now, for the smaller part") != std::string::npos);
    CHECK(text.find("1 of its 3 hosts are not in the fabric file") != std::string::npos);
    CHECK(text.find("features it asks for (gpu80) is not considered here") != std::string::npos);
    scene.run(3, {"elsewhere"}, {});
    CHECK(scene.text(3).find("\"kind\":\"unknown\"") != std::string::npos);
    scene.run(4, {"n4"}, {}).phase = QueuePhase::leaving;
    CHECK(scene.text(4).find("\"kind\":\"unknown\"") != std::string::npos);
    CHECK(scene.sentence(1).empty());
}

TEST_CASE("comments are written once a sentence and a minute, and taken out when a job starts") {
    Scene scene;
    WhyPlan plan;
    scene.run(1, {"n1", "n2", "n5", "n6"}, now + 1h);
    scene.wait(7, 3);
    scene.wait(8, 3).hints = {}; // one unit holds it and it asked for nothing
    scene.wait(9, 5).hints = {}; // no unit holds it
    scene.wait(10, 2).hints.restart = true;
    scene.queue.jobs.back().hints.span.reset(); // no flag of placement
    const auto apply = [&](const std::vector<WhyPlan::Change>& changes) {
        for (const auto& change : changes)
            for (auto& job : scene.queue.jobs)
                if (job.id == change.job) job.shown = sched::as_phrase(change.text, sched::longest_shown);
    };
    const auto jobs = [&](bool explain = true) {
        std::vector<base::JobId> ids;
        const auto changes = plan.due(scene.queue, scene.placing, explain, restart::RmPrivacy{});
        for (const auto& change : changes)
            ids.push_back(change.job);
        apply(changes);
        std::sort(ids.begin(), ids.end());
        return ids;
    };
    CHECK(jobs() == std::vector<base::JobId>{7, 9});
    CHECK(scene.of(7).job->shown.starts_with("needs 3 nodes in one unit, the fullest"));
    CHECK(jobs().empty());

    // Another sentence waits until the minute is over.
    scene.node(3).state = Use::drained;
    scene.queue.read = now + 59s;
    CHECK(jobs().empty());
    scene.queue.read = now + 60s;
    CHECK(jobs() == std::vector<base::JobId>{7, 9});
    scene.queue.read = now + 3min;
    CHECK(jobs().empty());

    // Started, and no sooner than at once.
    scene.queue.jobs[1].phase = QueuePhase::placed;
    CHECK(jobs() == std::vector<base::JobId>{7});
    CHECK(scene.queue.jobs[1].shown.empty());
    // A restartd that has forgotten everything finds what it wrote; switched off it takes it out.
    plan = {};
    CHECK(jobs().empty());
    CHECK(jobs(false) == std::vector<base::JobId>{9});
    CHECK(jobs(false).empty());
}

TEST_CASE("a pass writes a bounded number of comments, and the next ones the rest") {
    Scene scene;
    WhyPlan plan;
    scene.run(1, {"n1", "n2", "n5", "n6"}, now + 1h);
    for (std::uint32_t id = 100; id < 200; ++id)
        scene.wait(base::JobId(id), 3);
    std::size_t passes = 0, written = 0;
    for (; passes < 10; ++passes) {
        const auto changes = plan.due(scene.queue, scene.placing, true, restart::RmPrivacy{});
        CHECK(changes.size() <= 16);
        written += changes.size();
        for (const auto& change : changes)
            scene.queue.jobs.at(change.job.number() - 99).shown =
                sched::as_phrase(change.text, sched::longest_shown);
        if (changes.empty()) break;
    }
    CHECK(written == 100);
    CHECK(passes == 7);
}
