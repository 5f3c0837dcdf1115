// Random worlds: what is really the case against what was done. First single faults, of which it is known
// what must follow, and in what time; then many at once; then a month.

#include "restart/core/store/state_json.hpp"
#include "truth.hpp"
#include "unit/trials.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>

using restart::Severity;

namespace {

std::string list_of(const std::vector<std::string>& sentences) {
    std::string text;
    for (const auto& sentence : sentences)
        text += sentence + "\n";
    return text;
}

// Some that stand side by side, as behind one switch.
std::vector<std::string> neighbours(Truth& truth, std::size_t count) {
    std::vector<std::string> list;
    for (auto at = truth.hosts.find(truth.any_host()); list.size() < count; ++at) {
        if (at == truth.hosts.end()) at = truth.hosts.begin();
        list.push_back(at->first);
    }
    return list;
}

// A world in some state of unrest that must not matter.
void unsettle(Truth& truth) {
    truth.fabricwatchd = truth.roll(2) == 0;
    truth.duplicates = truth.roll(2) == 0;
    truth.most_delay_ms = truth.roll(2) == 0 ? 0 : 800;
    truth.run(10);
}

void check_bounds(Truth& truth) {
    const auto most =
        std::ceil(truth.world.policy.max_drained_percent * static_cast<double>(truth.hosts.size()) / 100);
    CHECK(static_cast<double>(restart::drained_by_us(truth.world.state())) <= most);
}

std::string without_number(const std::string& text) {
    static const std::regex number("i-[0-9]+");
    return std::regex_replace(text, number, "i");
}

} // namespace

TEST_CASE("one fault: the job runs elsewhere in bounded time, and nothing else is done", "[worlds]") {
    for (int seed = 1; seed <= test::trials(20); ++seed) {
        Truth truth(16 + 8 * (static_cast<std::size_t>(seed) % 7), static_cast<unsigned>(seed));
        unsettle(truth);
        const auto host = truth.host_in_use();
        REQUIRE_FALSE(host.empty());
        const auto job = truth.job_on(host);
        double within = 0;
        std::string fault;
        switch (seed % 5) {
        case 0:
            fault = "power";
            truth.power_off(host);
            within = 20;
            break;
        case 1:
            fault = "hung";
            truth.hang(host);
            within = 20;
            break;
        case 2:
            fault = "fatal";
            truth.breaks(host, Severity::fatal);
            within = 10;
            break;
        case 3:
            fault = "evict";
            truth.breaks(host, Severity::evict);
            within = 75;
            break;
        case 4:
            fault = "power, slurmctld away";
            truth.world.rm_answers = false;
            truth.power_off(host);
            truth.run(5 + truth.roll(60));
            truth.world.rm_answers = true;
            within = 30; // its tries are up to 30 s apart; its return is seen at once
            break;
        default: break;
        }
        const auto before = truth.world.actions.size();
        truth.run(within);
        INFO("seed " << seed << ", " << fault << " of " << host << "\n" << truth.world.story());
        CHECK(truth.runs_without(job, host));
        CHECK(list_of(truth.wrongs) == "");
        for (std::size_t i = before; i < truth.world.actions.size(); ++i) {
            const auto& action = truth.world.actions[i];
            INFO(restart::describe(action));
            CHECK(restart::host_of(action) == host);
        }
    }
}

TEST_CASE("what is no fault of hosts has no consequence", "[worlds]") {
    for (int seed = 1; seed <= test::trials(20); ++seed) {
        Truth truth(32, static_cast<unsigned>(seed));
        unsettle(truth);
        std::string event;
        switch (seed % 6) {
        case 0: {
            event = "a management switch is dead";
            truth.cut(neighbours(truth, 3 + truth.roll(29)));
            truth.run(10 + truth.roll(200));
            break;
        }
        case 1:
            event = "an agent was killed";
            truth.kill_agent(truth.any_host());
            truth.run(200);
            break;
        case 2:
            event = "restartd is cut off from all agents";
            truth.restartd_cut = true;
            truth.run(10 + truth.roll(200));
            break;
        case 3: {
            event = "links flap";
            const auto host = truth.any_host();
            truth.darken(host);
            truth.run(6);
            truth.hosts.at(host).dark = false;
            truth.run(30);
            break;
        }
        case 4:
            event = "restartd stood still, or a clock was set";
            truth.world.sleep(truth.roll(2) == 0 ? 3600 : -3600);
            truth.run(60);
            break;
        default:
            event = "slurmctld is away";
            truth.world.rm_answers = false;
            truth.run(10 + truth.roll(400));
            truth.world.rm_answers = true;
            break;
        }
        for (auto& [name, host] : truth.hosts)
            host.cut = host.ctl_cut = false, host.agent = true;
        truth.restartd_cut = false;
        truth.run(60);
        INFO("seed " << seed << ": " << event << "\n" << truth.world.story());
        CHECK(truth.world.actions.empty());
        CHECK(truth.world.state().incidents.empty());
    }
}

TEST_CASE("no host that others reach is set down, and one that lies neither condemns nor saves", "[worlds]") {
    for (int seed = 1; seed <= test::trials(20); ++seed) {
        Truth truth(24 + 8 * (static_cast<std::size_t>(seed) % 5), static_cast<unsigned>(seed));
        truth.peers_save = true;
        for (auto& [name, host] : truth.hosts) {
            if (truth.roll(4) == 0) truth.world.old_agents.insert(name);
            host.blind = truth.roll(6) == 0;
        }
        truth.hosts.at(truth.any_host()).lies = true;
        unsettle(truth);
        truth.fabricwatchd = truth.roll(2) == 0;
        const auto host = truth.host_in_use();
        REQUIRE_FALSE(host.empty());
        truth.hosts.at(host).lies = false;
        const auto job = truth.job_on(host);
        const bool dies = seed % 2 == 0;
        if (dies) {
            truth.gives_up = base::Duration(150'000);
            if (truth.roll(2) == 0) truth.kill_agent(host); // its peers reach it first
            truth.run(truth.roll(30));
            truth.roll(2) == 0 ? truth.power_off(host) : truth.hang(host);
            truth.run(200);
        } else {
            truth.cut_from_ctl(host);
            truth.run(20 + truth.roll(180));
        }
        INFO("seed " << seed << (dies ? " dies " : " is cut off from restartd ") << host << "\n"
                     << truth.world.story());
        CHECK(list_of(truth.wrongs) == "");
        CHECK(truth.runs_without(job, host) == dies);
        for (const auto& action : truth.world.actions)
            CHECK(restart::host_of(action) == host);
        truth.mend_all();
        truth.run(60);
        CHECK(truth.world.state().looks.empty());
        if (!dies) CHECK(truth.world.actions.empty());
    }
}

TEST_CASE("many faults at once: no healthy host is set down, no job is moved twice for one fault",
          "[worlds]") {
    for (int seed = 1; seed <= test::trials(8); ++seed) {
        Truth truth(24 + 8 * (static_cast<std::size_t>(seed) % 6), static_cast<unsigned>(seed));
        truth.gives_up = base::Duration(seed % 2 == 0 ? 300'000 : 60'000);
        for (int move = 0; move < 60; ++move) {
            const auto host = truth.any_host();
            switch (truth.roll(18)) {
            case 0: truth.power_off(host); break;
            case 1: truth.hang(host); break;
            case 2: truth.cut(neighbours(truth, 1 + truth.roll(24))); break;
            case 3: truth.kill_agent(host); break;
            case 4: truth.darken(host); break;
            case 5: truth.breaks(host, truth.roll(2) == 0 ? Severity::evict : Severity::fatal); break;
            case 6: truth.world.restart_daemon(); break;
            case 7: truth.world.rm_answers = !truth.world.rm_answers; break;
            case 8: truth.fabricwatchd = !truth.fabricwatchd; break;
            case 9: truth.restartd_cut = !truth.restartd_cut; break;
            case 10: truth.most_delay_ms = truth.roll(2000); break;
            case 11: truth.duplicates = !truth.duplicates; break;
            case 12: truth.world.send(restart::OperatorDrain{host, "worlds", "alice"}); break;
            case 13: truth.world.sleep(truth.roll(20)); break;
            case 14: truth.cut_from_ctl(host); break;
            case 15: truth.hosts.at(host).lies = truth.hosts.at(host).blind = truth.roll(2) == 0; break;
            default: truth.mend(host); break;
            }
            truth.run(0.25 * (1 + truth.roll(60)));
            INFO("seed " << seed << " move " << move << "\n" << truth.world.story());
            check_bounds(truth);
            CHECK(list_of(truth.wrongs) == "");
            truth.wrongs.clear();
        }
        // When all is well again everything comes to an end, and every job runs that is not held.
        truth.mend_all();
        truth.run(700); // a group of silent hosts is waited for
        truth.mend_all();
        truth.run(200);
        INFO("seed " << seed << "\n" << truth.world.story());
        for (const auto& [number, incident] : truth.world.state().incidents)
            UNSCOPED_INFO(incident.id() << " " << incident.host << " " << to_string(incident.phase));
        CHECK(truth.world.state().incidents.empty());
        for (const auto job : truth.jobs)
            CHECK((truth.world.is_held(job) || truth.world.job(job).phase == restart::JobPhase::running));
    }
}

TEST_CASE("the order of reports that come in one moment changes nothing", "[worlds]") {
    for (int seed = 1; seed <= test::trials(20); ++seed) {
        Truth truth(24, static_cast<unsigned>(seed));
        truth.world.policy.max_drained_percent = 100; // which hosts come first within a bound is the order's
        for (unsigned faults = 1 + truth.roll(6); faults > 0; --faults)
            truth.breaks(truth.any_host(), truth.roll(3) == 0 ? Severity::fatal : Severity::evict);
        std::vector<restart::Report> reports;
        truth.world.carrier = [&](const restart::Report& report) { reports.push_back(report); };
        truth.run(1);
        // What is done and noted, but for the numbers of incidents.
        const auto outcome = [&] {
            std::multiset<std::string> done;
            auto state = truth.world.state();
            const auto step = [&](const restart::Event& event) {
                auto out = restart::step(std::move(state), event, truth.world.now(), truth.world.policy);
                state = std::move(out.state);
                for (const auto& action : out.actions)
                    done.insert(without_number(restart::describe(action)));
                for (const auto& note : out.notes)
                    done.insert(fmt::format("{} {}", note.host, without_number(note.text)));
            };
            for (const auto& report : reports)
                step(restart::AgentReported{report});
            step(restart::Tick{});
            return done;
        };
        const auto first = outcome();
        for (int order = 0; order < 4; ++order) {
            std::shuffle(reports.begin(), reports.end(), truth.random);
            INFO("seed " << seed);
            CHECK(outcome() == first);
        }
        CHECK_FALSE(first.empty());
    }
}

TEST_CASE("a month: faults as they come, by a clock of its own", "[worlds]") {
    Truth truth(16, 7);
    // Reports every 80 s instead of each second: a month is short enough then.
    truth.world.beat = base::Duration(20'000);
    truth.world.policy.report_interval = base::Duration(80'000);
    truth.world.policy.silent = base::Duration(240'000);
    truth.world.policy.witness_wait = base::Duration(480'000);
    constexpr double hour = 3600;
    std::map<std::string, double> repaired; // hosts that a person repairs, and when
    unsigned faults = 0;
    for (double now = 0; now < 30 * 24 * hour / (test::trials(8) == 8 ? 1 : 8); now += hour / 4) {
        for (auto at = repaired.begin(); at != repaired.end();)
            if (at->second <= now) {
                truth.mend(at->first);
                at = repaired.erase(at);
            } else {
                ++at;
            }
        // Far more than in truth: a host a day, a network and a slurmctld every three days.
        if (truth.roll(96) == 0) {
            const auto host = truth.any_host();
            ++faults;
            switch (truth.roll(4)) {
            case 0: truth.power_off(host); break;
            case 1: truth.hang(host); break;
            case 2: truth.breaks(host, Severity::fatal); break;
            default: truth.breaks(host, Severity::evict); break;
            }
            repaired[host] = now + 2 * hour;
        }
        if (truth.roll(288) == 0)
            for (const auto& host : neighbours(truth, 8)) {
                truth.cut({host});
                repaired[host] = now + hour / 4;
            }
        if (truth.roll(288) == 0) truth.world.restart_daemon();
        truth.world.rm_answers = truth.roll(288) != 0;
        truth.run(hour / 4);
        truth.world.notes.clear();
        truth.world.actions.clear();
    }
    truth.world.rm_answers = true;
    truth.mend_all();
    truth.run(2 * hour);
    truth.mend_all();
    truth.run(hour);
    UNSCOPED_INFO(faults << " faults");
    CHECK(faults > 2);
    CHECK(list_of(truth.wrongs) == "");
    CHECK(truth.world.state().incidents.empty());
    CHECK(to_json(truth.world.state()).size() < 50'000); // what is over is not kept
    for (const auto job : truth.jobs)
        CHECK((truth.world.is_held(job) || truth.world.job(job).phase == restart::JobPhase::running));
}
