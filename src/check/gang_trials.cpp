#include "check/gang_trials.hpp"

#include "base/cli.hpp"
#include "base/file.hpp"
#include "check/hca.hpp"
#include "check/mailbox.hpp"
#include "check/mpi/nccl_collective.hpp"
#include "check/net_trials.hpp"
#include "check/thread_gang.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace check {
namespace {

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

// What NcclCollective needs of MPI: each process receives the first one's data.
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
        Task task{.work = {}, .deadline = trial_most, .part = part, .test = "nccl.start"};
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

bool has_library(const std::vector<std::string>& paths, std::string_view stem) {
    return std::any_of(paths.begin(), paths.end(), [&](const auto& path) {
        return std::filesystem::path(path).filename().string().starts_with(stem);
    });
}

TrialOutcome try_sums(const std::filesystem::path& folder, const std::vector<std::string>& libraries) {
    TrialOutcome outcome{"nccl", "a GPU spoils what is reduced", "doubles of NCCL and CUDA", false, {}};
    outcome.trouble = "needs --library: doubles of libnccl and libcuda";
    if (!has_library(libraries, "libnccl.")) return outcome;
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

// --- hca: a port that sends to itself, by a double of libibverbs ---

TrialOutcome try_port(const std::filesystem::path& folder, const std::vector<std::string>& libraries) {
    TrialOutcome outcome{"hca", "what a port writes ends with an error", "a double of libibverbs", false, {}};
    outcome.trouble = "needs --library: a double of libibverbs";
    if (!has_library(libraries, "libibverbs.")) return outcome;
    ::setenv("RAIL_IBV_STATE", (folder / "ibv").c_str(), 1);
    ::setenv("RAIL_IBV_QUEUES", (folder / "queues").c_str(), 1);
    Request request;
    request.libraries = libraries;
    const auto run = [&](std::string_view state) {
        static_cast<void>(base::write_file(folder / "ibv", std::string(state)).has_value());
        return Hca().run(request);
    };
    const auto warned = [](const std::vector<Result>& results) {
        return std::any_of(results.begin(), results.end(),
                           [](const Result& one) { return one.verdict == Verdict::warning; });
    };
    outcome.tried = true;
    outcome.trouble.clear();
    const auto sound = run("devices=2\n");
    if (sound.front().verdict == Verdict::not_run) {
        outcome.tried = false; // not supported by this build
        outcome.trouble = sound.front().says;
    } else if (warned(sound) || exit_status(sound) != base::exit_done)
        outcome.trouble = "a sound port is not: " + print(sound);
    else if (const auto found = run("devices=2\n1.fail=10\n"); !warned(found))
        outcome.trouble = "nothing is a warning: " + print(found);
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
    if (wanted("hca") &&
        (!tell(try_port(folder, libraries)) ||
         !tell(by_hardware("hca", "a port is slow", "RC of an HCA", "railcheck hca where HCAs are"))))
        return outcomes;
    if (wanted("net") &&
        (!try_net(folder, tell) || !tell(by_hardware("net", "an HCA or its cable is slow", "RC of an HCA",
                                                     "railcheck net on hosts with HCAs"))))
        return outcomes;
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
