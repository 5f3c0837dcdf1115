#include "check/gang_trials.hpp"

#include "base/file.hpp"
#include "check/apart.hpp"
#include "check/mpi/nccl_collective.hpp"
#include "check/net/gathering.hpp"
#include "check/net/ucx_rail.hpp"
#include "check/net/verdict.hpp"
#include "check/thread_gang.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace check {
namespace {

using namespace std::chrono_literals;
using Number = std::optional<std::uint32_t>;

// --- net: the hosts of a tournament as threads that come together on loopback ---

constexpr std::uint32_t hosts = 8, rails = 2, hosts_a_leaf = 4;
constexpr std::uint32_t faulty = 5, faulty_rail = 1;

std::uint32_t leaf_of(std::uint32_t host, std::uint32_t rail) {
    return rail * (hosts / hosts_a_leaf) + host / hosts_a_leaf;
}

// `share`: what is left of the bandwidth of this end of a rail; 0: nothing gets through.
struct NetFault {
    std::string_view fault;
    net::Part part;
    Number host, rail, leaf; // that must be named, and nothing else
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

// What the hosts of a gathering do beside what they are told.
struct Net {
    double (*share)(std::uint32_t host, std::uint32_t rail) = [](std::uint32_t, std::uint32_t) {
        return 1.0;
    };
    Number silent;   // a host that does not answer in the second round
    Number unusable; // a host whose first device cannot be used
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
    // Two numbers of hosts and a round: 1 % here and there, the same each time.
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

// The gathering's words where they are not what `right` wants.
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

// --- processes that hand each other a few bytes ---

class Mailbox {
public:
    Mailbox() {
        void* at = ::mmap(nullptr, sizeof(Slots), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at != MAP_FAILED) slots_ = new (at) Slots();
    }
    ~Mailbox() {
        if (slots_ != nullptr) ::munmap(slots_, sizeof(Slots));
    }
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;
    explicit operator bool() const { return slots_ != nullptr; }

    void put(std::size_t slot, std::string_view bytes) {
        auto& one = (*slots_)[slot];
        one.size = std::min(bytes.size(), one.bytes.size());
        std::memcpy(one.bytes.data(), bytes.data(), one.size);
        one.full = true;
    }
    std::string take(std::size_t slot) { // waits: who never gets it is ended by its deadline
        auto& one = (*slots_)[slot];
        while (!one.full)
            std::this_thread::sleep_for(1ms);
        return {one.bytes.data(), one.size};
    }

private:
    struct Slot {
        std::atomic<bool> full = false;
        std::size_t size = 0;
        std::array<char, 8192> bytes{};
    };
    using Slots = std::array<Slot, 2>;
    Slots* slots_ = nullptr;
};

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

constexpr base::Duration apart_most = 60s; // of what ends in a second

// Two processes that measure over loopback, of which one may end before.
std::vector<TaskOutcome> run_pair(bool ends) {
    Mailbox box;
    std::vector<Task> tasks;
    for (std::size_t own = 0; box && own < 2; ++own) {
        const Part part{.name = "lo"};
        Task task{.work = {}, .deadline = apart_most, .part = part, .test = "net.pair"};
        task.work = [&box, own, ends, part](Sink& sink) {
            auto rail = net::UcxRail::open("lo", "");
            if (!rail) sink.fact("why", rail.error().text);
            box.put(own, rail ? rail->address() : "");
            const auto peer = box.take(1 - own);
            if (!rail || peer.empty()) return;
            if (ends && own == 1) return; // its address leads nowhere now
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

// --- mpi and nccl: the search, in a gang of threads ---

struct GangFault {
    std::string_view fault;
    void (*plant)(ThreadGang& gang);
    bool (*found)(const GangVerdict& verdict);
};
constexpr std::size_t members = 16, slow_member = 11;
constexpr int slow_rail = 2;
bool names_the_host(const GangVerdict& verdict) {
    return verdict.slow == std::vector{slow_member};
}
const GangFault gang_faults[] = {
    {"a rail of a host is slow", [](ThreadGang& gang) { gang.slow(slow_member, slow_rail, 60); },
     [](const GangVerdict& verdict) {
         const auto rails_slow = verdict.rails_of.find(slow_member);
         return names_the_host(verdict) && rails_slow != verdict.rails_of.end() &&
                rails_slow->second == std::vector{slow_rail};
     }},
    {"a rail is slow on all hosts",
     [](ThreadGang& gang) {
         for (std::size_t member = 0; member < members; ++member)
             gang.slow(member, slow_rail, 60);
     },
     [](const GangVerdict& verdict) {
         return verdict.slow.empty() && verdict.rails == std::vector{slow_rail};
     }},
    {"a host never answers", [](ThreadGang& gang) { gang.dead = slow_member; }, names_the_host},
    {"a host spoils what is reduced", [](ThreadGang& gang) { gang.spoils = slow_member; }, names_the_host},
};

std::string trouble_of(const GangFault& fault) {
    ThreadGang sound(members);
    if (const auto verdict = sound.search(); verdict.runs != 1 || !verdict.slow.empty())
        return "a sound gang is not";
    ThreadGang gang(members);
    fault.plant(gang);
    const auto verdict = gang.search();
    return fault.found(verdict) ? "" : fmt::format("{} hosts are named", verdict.slow.size());
}

// --- nccl: its calls, by doubles of libnccl and libcuda ---

// What NcclCollective needs of MPI: each process hears what the first one says.
struct Heard {
    Mailbox* box = nullptr;
    bool speaks = false;
    std::size_t said = 0;
} heard;

int tell_all(void* bytes, int count, mpi::Handle, int, mpi::Handle) {
    const auto slot = heard.said++;
    const auto size = static_cast<std::size_t>(count);
    if (heard.speaks) heard.box->put(slot, {static_cast<const char*>(bytes), size});
    const auto got = heard.box->take(slot);
    std::memcpy(bytes, got.data(), std::min(got.size(), size));
    return mpi::success;
}

std::vector<TaskOutcome> run_nccl(const std::vector<std::string>& libraries) {
    static constexpr std::size_t processes = 3;
    Mailbox box;
    std::vector<Task> tasks;
    for (std::size_t own = 0; box && own < processes; ++own) {
        const Part part{.name = fmt::format("gpu{}", own)};
        Task task{.work = {}, .deadline = apart_most, .part = part, .test = "nccl.start"};
        task.work = [&, own, part](Sink& sink) {
            heard = {&box, own == 0, 0};
            mpi::Calls calls{};
            calls.MPI_Bcast = tell_all;
            auto host = mpi::open_nccl(libraries, static_cast<int>(own));
            if (!host) return sink.fact("why", host.error().text);
            const auto make = mpi::nccl_collectives(calls, *host);
            for (const auto operation : {mpi::Operation::nccl_all_reduce, mpi::Operation::nccl_all_gather}) {
                Result result{.check = "nccl",
                              .test = operation == mpi::Operation::nccl_all_reduce ? "nccl.all_reduce"
                                                                                   : "nccl.all_gather",
                              .part = part};
                sink.begin(part, result.test);
                mpi::Circle circle{nullptr, static_cast<int>(own), {1, 2, 3}};
                auto collective = make({operation, 4096, 0}, circle);
                auto done = collective ? (*collective)->once() : base::Expected<void>(collective.error());
                const auto right = done ? (*collective)->right() : base::Expected<bool>(done.error());
                result.verdict = right && *right ? Verdict::sound : Verdict::bad;
                result.says = !right ? right.error().text : *right ? "" : "the result is wrong";
                sink.add(result);
            }
        };
        tasks.push_back(std::move(task));
    }
    return run_apart("nccl", std::move(tasks), {});
}

TrialOutcome try_sums(const std::filesystem::path& folder, const std::vector<std::string>& libraries) {
    TrialOutcome outcome{"nccl", "a GPU spoils what is reduced", "doubles of NCCL and CUDA", false, {}};
    const bool given = std::any_of(libraries.begin(), libraries.end(), [](const auto& path) {
        return std::filesystem::path(path).filename().string().starts_with("libnccl.");
    });
    outcome.trouble = "needs --library: doubles of libnccl and libcuda";
    if (!given) return outcome;
    if (auto done = base::write_file(folder / "cuda", "count=3\nmem_mib=16\n"); !done) {
        outcome.trouble = done.error().text;
        return outcome;
    }
    ::setenv("RAIL_CUDA_STATE", (folder / "cuda").c_str(), 1);
    const auto sound = run_nccl(libraries);
    outcome.trouble = why_not(sound);
    if (!outcome.trouble.empty()) return outcome;
    outcome.tried = true;
    ::setenv("RAIL_NCCL_WRONG", "1", 1);
    const auto found = run_nccl(libraries);
    ::unsetenv("RAIL_NCCL_WRONG");
    if (has_bad(sound))
        outcome.trouble = "a sound gang is not: " + shown(sound);
    else if (!has_bad(found))
        outcome.trouble = "nothing is bad: " + shown(found);
    return outcome;
}

TrialOutcome by_hardware(std::string_view check, std::string_view fault, std::string_view through,
                         std::string_view how) {
    return {std::string(check), std::string(fault), std::string(through), false,
            fmt::format("only hardware shows it: {}", how)};
}

} // namespace

std::vector<TrialOutcome> try_gangs(std::string_view only, const std::filesystem::path& folder,
                                    const std::vector<std::string>& libraries,
                                    const std::function<bool(const TrialOutcome&)>& told) {
    std::vector<TrialOutcome> outcomes;
    const auto tell = [&](TrialOutcome outcome) {
        outcomes.push_back(std::move(outcome));
        return told(outcomes.back());
    };
    const auto wanted = [&](std::string_view check) { return check.starts_with(only); };
    if (wanted("net")) {
        constexpr auto through = "threads on loopback";
        NetTrial trial(folder);
        for (const auto& one : net_faults)
            if (!tell({"net", std::string(one.fault), through, true, trouble_of(trial, one)}))
                return outcomes;
        if (!tell({"net", "a host falls silent", through, true, silent_trouble(trial)}) ||
            !tell({"net", "a device cannot be used", through, true, device_trouble(trial)}) ||
            !tell(try_pair()) ||
            !tell(by_hardware("net", "an HCA or its cable is slow", "RC of an HCA",
                              "railcheck net on hosts with HCAs")))
            return outcomes;
    }
    for (const std::string_view check : {"mpi", "nccl"})
        for (const auto& one : gang_faults)
            if (wanted(check) && !tell({std::string(check), std::string(one.fault), "a gang of threads", true,
                                        trouble_of(one)}))
                return outcomes;
    if (wanted("mpi") && !tell(by_hardware("mpi", "a host or rail is slow", "Open MPI between hosts",
                                           "railcheck mpi on hosts of a cluster")))
        return outcomes;
    if (wanted("nccl") && tell(try_sums(folder, libraries)))
        tell(by_hardware("nccl", "a host or rail is slow", "NCCL between GPUs",
                         "railcheck nccl on hosts with GPUs"));
    return outcomes;
}

} // namespace check
