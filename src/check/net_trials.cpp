#include "check/net_trials.hpp"

#include "base/file.hpp"
#include "check/mailbox.hpp"
#include "check/net/gathering.hpp"
#include "check/net/ucx_rail.hpp"
#include "check/net/verdict.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <optional>
#include <thread>

namespace check {
namespace {

using namespace std::chrono_literals;
using Number = std::optional<std::uint32_t>;

constexpr std::uint32_t hosts = 8, rails = 2, hosts_a_leaf = 4;
constexpr std::uint32_t faulty = 5, faulty_rail = 1;

std::uint32_t leaf_of(std::uint32_t host, std::uint32_t rail) {
    return rail * (hosts / hosts_a_leaf) + host / hosts_a_leaf;
}

// `share`: remaining share of the bandwidth of this end of a rail; 0: no traffic.
struct NetFault {
    std::string_view fault;
    net::Part part;
    Number host, rail, leaf; // the only part that must be named
    double (*share)(std::uint32_t host, std::uint32_t rail);
};
const NetFault net_faults[] = {
    {"a cable is slow",
     net::Part::cable,
     faulty,
     faulty_rail,
     {},
     [](std::uint32_t host, std::uint32_t rail) { return host == faulty && rail == faulty_rail ? 0.5 : 1; }},
    {"a cable carries nothing",
     net::Part::cable,
     faulty,
     faulty_rail,
     {},
     [](std::uint32_t host, std::uint32_t rail) { return host == faulty && rail == faulty_rail ? 0.0 : 1; }},
    {"a host is slow",
     net::Part::host,
     faulty,
     {},
     {},
     [](std::uint32_t host, std::uint32_t) { return host == faulty ? 0.5 : 1; }},
    {"a leaf is slow",
     net::Part::leaf,
     {},
     faulty_rail,
     leaf_of(faulty, faulty_rail),
     [](std::uint32_t host, std::uint32_t rail) {
         return leaf_of(host, rail) == leaf_of(faulty, faulty_rail) ? 0.5 : 1;
     }},
    {"a rail is slow on all hosts",
     net::Part::rail,
     {},
     faulty_rail,
     {},
     [](std::uint32_t, std::uint32_t rail) { return rail == faulty_rail ? 0.5 : 1; }},
};

// What the hosts of a gathering do in addition to their orders.
struct Net {
    double (*share)(std::uint32_t host, std::uint32_t rail) = [](std::uint32_t, std::uint32_t) {
        return 1.0;
    };
    Number silent;   // stops answering in the second round
    Number unusable; // its first device cannot be used
    double patience_s = 30;
};

class NetTrial {
public:
    explicit NetTrial(const std::filesystem::path& folder) : secret_(folder / "secret") {}

    base::Expected<net::Gathered> gather(const Net& how) {
        if (auto done = base::write_file(secret_, "known to this process alone", 0600); !done)
            return done.error();
        const auto entry = net::Entry::by_secret(secret_);
        if (!entry) return entry.error();
        auto listener = net::listen_on({0});
        if (!listener) return listener.error();
        const std::vector<std::uint16_t> ports{listener->port};
        net::Plan plan;
        plan.effort.patience_s = how.patience_s;
        std::atomic<bool> over = false;
        std::vector<std::thread> members;
        for (std::uint32_t rank = 0; rank < hosts; ++rank)
            members.emplace_back([&, rank] {
                std::vector<net::Hello::Rail> own;
                for (std::uint32_t rail = 0; rail < rails; ++rail) {
                    const bool out = how.unusable == rank && rail == 0;
                    own.push_back(
                        {fmt::format("r{}", rail), out ? "" : "address", out ? "no such device" : ""});
                }
                const auto measure = [&, rank](const net::Go& go) {
                    while (how.silent == rank && go.round == 1 && !over)
                        std::this_thread::sleep_for(10ms);
                    return measured(how, rank, go);
                };
                static_cast<void>(
                    net::take_part(launch_as(rank), ports, *entry, plan, own, measure).has_value());
            });
        auto gathered = net::gather(
            *std::move(listener), launch_as(0), *entry, plan, [](const auto&) { return false; },
            [](const auto&) {});
        over = true;
        for (auto& member : members)
            member.join();
        return gathered;
    }

    static net::Leaves leaves() {
        net::Leaves leaves;
        for (std::uint32_t leaf = 0; leaf < rails * hosts / hosts_a_leaf; ++leaf)
            leaves.names.push_back(fmt::format("leaf{}", leaf));
        for (std::uint32_t host = 0; host < hosts; ++host)
            for (std::uint32_t rail = 0; rail < rails; ++rail)
                leaves.of_end.emplace_back(leaf_of(host, rail));
        return leaves;
    }

private:
    static net::Launch launch_as(std::uint32_t rank) {
        net::Launch launch;
        launch.rank = rank;
        for (std::uint32_t host = 0; host < hosts; ++host)
            launch.hosts.push_back(host == 0 ? "localhost" : fmt::format("n{}", host));
        return launch;
    }
    // Rates vary by up to 1 % with host, round and rail, the same each time.
    static std::vector<net::Done::Rail> measured(const Net& how, std::uint32_t own, const net::Go& go) {
        const auto names = launch_as(0).hosts;
        const auto partner =
            static_cast<std::uint32_t>(std::find(names.begin(), names.end(), go.partner) - names.begin());
        std::vector<net::Done::Rail> done;
        for (std::uint32_t rail = 0; rail < go.addresses.size(); ++rail) {
            const auto share = std::min(how.share(own, rail), how.share(partner, rail));
            const auto wobble = 1 + 0.01 * static_cast<double>((own * 7 + go.round * 3 + rail) % 5) / 5;
            const auto gbps = 400 * share * wobble;
            if (share > 0 && !go.addresses[rail].empty())
                done.push_back({net::Measured{5 * wobble, gbps, gbps}, {}});
            else
                done.push_back({{}, "the peer does not answer"});
        }
        return done;
    }

    std::string secret_;
};

std::string said(const net::Gathered& gathered, const net::Verdict& verdict) {
    std::string text;
    for (const auto& one : verdict.slow)
        text += one.says + "; ";
    for (const auto& one : verdict.unusable)
        text += one + "; ";
    for (const auto& one : gathered.lost)
        text += fmt::format("{} {}; ", gathered.hosts[one.host], one.why);
    return text.empty() ? "nothing is named" : text;
}

// Describes the gathering if `right` rejects it.
template <class Right> std::string trouble_of(NetTrial& trial, const Net& how, const Right& right) {
    const auto gathered = trial.gather(how);
    if (!gathered) return gathered.error().text;
    const auto verdict = net::judge(*gathered, NetTrial::leaves());
    return right(*gathered, verdict) ? "" : said(*gathered, verdict);
}

std::string trouble_of(NetTrial& trial, const NetFault& fault) {
    const auto sound = trouble_of(
        trial, {}, [](const auto& gathered, const auto& verdict) { return verdict.sound(gathered); });
    if (!sound.empty()) return "a sound network is not: " + sound;
    Net how;
    how.share = fault.share;
    return trouble_of(trial, how, [&](const auto& gathered, const auto& verdict) {
        if (verdict.slow.size() != 1 || !gathered.lost.empty()) return false;
        const auto& culprit = verdict.slow.front().culprit;
        return culprit.part == fault.part && culprit.host == fault.host && culprit.rail == fault.rail &&
               culprit.leaf == fault.leaf;
    });
}

std::string silent_trouble(NetTrial& trial) {
    Net how;
    how.silent = faulty;
    how.patience_s = 1;
    return trouble_of(trial, how, [](const auto& gathered, const auto&) {
        return std::any_of(gathered.lost.begin(), gathered.lost.end(),
                           [](const auto& one) { return one.host == faulty; });
    });
}

std::string device_trouble(NetTrial& trial) {
    Net how;
    how.unusable = faulty;
    return trouble_of(trial, how, [](const auto&, const auto& verdict) {
        return verdict.slow.empty() && verdict.unusable.size() == 1;
    });
}

// Two processes that measure over loopback, one of which may end early. It has certainly ended when the other
// starts: UCX 1.13 may abort a process whose peer ends while they connect by TCP.
std::vector<TaskOutcome> run_pair(bool ends) {
    Mailbox box;
    std::vector<Task> tasks;
    for (std::size_t own = 0; box && own < 2; ++own) {
        const Part part{.name = "lo"};
        Task task{.work = {}, .deadline = trial_most, .part = part, .test = "net.pair"};
        task.work = [&box, own, ends, part](Sink& sink) {
            auto rail = net::UcxRail::open("lo", "");
            if (!rail) sink.fact("why", rail.error().text);
            box.put(own, rail ? rail->address() : "");
            const auto peer = box.take(1 - own);
            constexpr std::size_t gone = 2;
            if (ends && own == 1) {
                rail = base::Error{}; // its address is now invalid
                box.put(gone, "");
            }
            if (!rail || peer.empty()) return;
            if (ends) box.take(gone);
            const auto measured =
                rail->measure(peer, 1, own == 0, {.seconds = 0.02, .patience_s = ends ? 2.0 : 30});
            Result result{.check = "net", .test = "net.pair", .part = part};
            if (measured)
                result.value = measured->gbps;
            else
                result.verdict = Verdict::bad, result.says = measured.error().text;
            sink.add(result);
        };
        tasks.push_back(std::move(task));
    }
    return run_apart("net", std::move(tasks), {});
}

TrialOutcome try_pair() {
    TrialOutcome outcome{"net", "a peer ends before the measure", "UCX over loopback", false, {}};
    const auto sound = run_pair(false);
    outcome.trouble = why_not(sound);
    if (!outcome.trouble.empty()) return outcome;
    outcome.tried = true;
    if (has_bad(sound))
        outcome.trouble = "a sound pair is not: " + shown(sound);
    else if (const auto found = run_pair(true); !has_bad(found))
        outcome.trouble = "nothing is bad: " + shown(found);
    return outcome;
}

} // namespace

bool has_bad(const std::vector<TaskOutcome>& outcomes) {
    return std::any_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
        return std::any_of(outcome.results.begin(), outcome.results.end(),
                           [](const auto& one) { return one.verdict == Verdict::bad; });
    });
}

std::string why_not(const std::vector<TaskOutcome>& outcomes) {
    for (const auto& outcome : outcomes)
        if (const auto why = outcome.facts.find("why"); why != outcome.facts.end()) return why->second;
    return {};
}

std::string shown(const std::vector<TaskOutcome>& outcomes) {
    std::vector<Result> all;
    for (const auto& outcome : outcomes)
        all.insert(all.end(), outcome.results.begin(), outcome.results.end());
    return print(all);
}

bool try_net(const std::filesystem::path& folder, const std::function<bool(TrialOutcome)>& tell) {
    constexpr auto through = "threads on loopback";
    NetTrial trial(folder);
    for (const auto& one : net_faults)
        if (!tell({"net", std::string(one.fault), through, true, trouble_of(trial, one)})) return false;
    return tell({"net", "a host falls silent", through, true, silent_trouble(trial)}) &&
           tell({"net", "a device cannot be used", through, true, device_trouble(trial)}) && tell(try_pair());
}

} // namespace check
