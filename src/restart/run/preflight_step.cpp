#include "restart/run/preflight_step.hpp"

#include "base/hostlist.hpp"
#include "base/unique_fd.hpp"
#include "base/units.hpp"
#include "restart/ckpt/agent.hpp"
#include "restart/run/nameless_file.hpp"
#include "restart/run/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <list>
#include <map>
#include <poll.h>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace restart::run {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Time limits of the whole step; starting and ending it takes step_needs of that.
constexpr std::array<std::chrono::seconds, 4> longest{0s, 10s, 180s, 1500s}; // by the level
// The same for the following check with NCCL, whose communicators alone take seconds.
constexpr std::chrono::seconds quick_nccl{20}, full_nccl{60};
constexpr std::chrono::seconds step_needs{3};
// For restartd's answer, which may have to query its resource manager first; and for the job's end.
constexpr std::chrono::seconds answer_most{20}, end_most{60};

// The output of one command for some hosts.
struct Step {
    Hosts hosts;
    std::string program; // the program that started it
    base::UniqueFd from;
    Process process;
    std::string text;
    bool told = false; // it has reported something
    std::optional<int> status;
};

Words words_of(const Hosts& hosts, const sched::PreflightWish& wish, const std::string& railcheck,
               std::chrono::seconds most) {
    Words words{railcheck, "preflight", fmt::format("--level={}", wish.level),
                fmt::format("--deadline={}s", (most - step_needs).count())};
    if (wish.net && hosts.size() > 1) words.emplace_back("--net");
    if (wish.nccl && hosts.size() > 1) words.emplace_back("--nccl");
    return words;
}

base::Expected<void> begin(Step& step, const Started& started) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::system_error("pipe", errno);
    step.from = base::UniqueFd(ends[0]);
    const base::UniqueFd to(ends[1]);
    return step.process.start(started, to.get());
}

// Moves complete lines of its text into `heard`; other lines, such as an error of srun, are skipped.
void take_lines(Step& step, Heard& heard) {
    auto& text = step.text;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
        if (auto word = read_check_word(std::string_view(text).substr(0, end))) {
            heard.words.push_back(*std::move(word));
            step.told = true;
        }
}

// Until all have ended; false if the deadline passes.
bool hear(std::list<Step>& steps, Clock::time_point deadline, Heard& heard) {
    constexpr std::size_t longest_text = 1 << 20;
    for (;;) {
        std::vector<pollfd> watched;
        std::vector<Step*> of;
        for (auto& step : steps)
            if (step.from) {
                watched.push_back({step.from.get(), POLLIN, 0});
                of.push_back(&step);
            }
        if (watched.empty()) return true;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        if (left <= 0ms || ::poll(watched.data(), watched.size(), static_cast<int>(left.count())) == 0)
            return false;
        for (std::size_t i = 0; i < watched.size(); ++i) {
            if (watched[i].revents == 0) continue;
            auto& step = *of[i];
            std::array<char, 16384> block{};
            const auto n = ::read(step.from.get(), block.data(), block.size());
            if (n < 0 && errno == EINTR) continue;
            if (n > 0) step.text.append(block.data(), static_cast<std::size_t>(n));
            take_lines(step, heard);
            if (n <= 0 || step.text.size() >= longest_text) step.from = {};
        }
    }
}

// Kills those that have not ended by then: false.
bool reap(std::list<Step>& steps, Clock::time_point until) {
    for (;;) {
        bool all = true;
        for (auto& step : steps)
            if (!step.status && step.process.runs()) {
                step.status = step.process.reap();
                all = all && step.status;
            }
        if (all) return true;
        if (Clock::now() >= until) break;
        std::this_thread::sleep_for(5ms);
    }
    for (auto& step : steps)
        step.process.send(SIGKILL);
    return false;
}

// Which commands failed before railcheck could report anything.
std::string trouble_of(const std::list<Step>& steps, const std::string& railcheck) {
    Hosts hosts;
    const Step* last = nullptr;
    for (const auto& step : steps)
        if (!step.told && step.status && *step.status != 0) {
            hosts.insert(hosts.end(), step.hosts.begin(), step.hosts.end());
            last = &step;
        }
    if (last == nullptr) return {};
    return fmt::format("{} could not be run on {}: {} ended with status {}", railcheck,
                       base::fold_hostlist(hosts), last->program, *last->status);
}

// Reads their output to the end, or to the deadline, and then kills the rest.
bool finish(OwnJob& job, std::list<Step>& steps, Clock::time_point deadline, Heard& heard) {
    const bool in_time = hear(steps, deadline, heard);
    if (!reap(steps, Clock::now() + (in_time ? 2s : 0s))) {
        job.kill_launches();
        job.clear_before_launch();
    }
    return in_time;
}

void begin(std::list<Step>& steps, const OnHosts& what, Heard& heard) {
    auto& step = steps.emplace_back();
    step.hosts = what.hosts;
    step.program = std::filesystem::path(what.started.words.front()).filename();
    auto begun = begin(step, what.started);
    if (begun) return;
    step.from = {};
    heard.trouble = begun.error().text;
}

// The gang for NCCL's operations: hosts that have places for its processes and no known problem, and the
// number on each. Removes the results about places, which no other code needs.
std::pair<Hosts, std::size_t> take_gang(const Hosts& hosts, Heard& heard) {
    std::map<std::string, std::size_t> places;
    std::set<std::string> bad;
    std::erase_if(heard.words, [&](const CheckWord& word) {
        if (word.verdict == CheckVerdict::bad) bad.insert(word.host);
        const bool has = word.check == nccl_places && word.value && *word.value >= 1;
        if (has) places[word.host] = static_cast<std::size_t>(*word.value);
        return has;
    });
    std::pair<Hosts, std::size_t> gang{{}, 0};
    for (const auto& host : hosts) {
        const auto has = places.find(host);
        if (has == places.end() || bad.contains(host)) continue;
        gang.second = gang.first.empty() ? has->second : std::min(gang.second, has->second);
        gang.first.push_back(host);
    }
    return gang;
}

void try_nccl(OwnJob& job, const Hosts& all, int level, const std::string& railcheck, Heard& heard) {
    const auto [hosts, each] = take_gang(all, heard);
    if (hosts.size() < 2) return; // the words have the reason
    const auto most = level > 1 ? full_nccl : quick_nccl;
    const Words words{railcheck,
                      "nccl",
                      "--lines",
                      "--test=all_reduce",
                      fmt::format("--time={}ms", level > 1 ? 200 : 50),
                      fmt::format("--deadline={}s", (most - step_needs).count())};
    const NamelessFile hostfile;
    const auto started = job.by_mpi(words, hosts, each, hostfile.path());
    hostfile.write(started.hostfile);
    std::list<Step> steps;
    begin(steps, {started, hosts}, heard);
    const bool in_time = finish(job, steps, Clock::now() + most, heard);
    if (!heard.trouble.empty()) return;
    heard.trouble =
        in_time ? trouble_of(steps, railcheck + " nccl")
                : fmt::format("{} nccl has no end within {} s: it is given up", railcheck, most.count());
}

} // namespace

Heard try_hosts(OwnJob& job, const Seats& seats, const sched::PreflightWish& wish,
                const std::string& railcheck) {
    const auto most = longest.at(static_cast<std::size_t>(wish.level));
    const auto began = Clock::now();
    Heard heard;
    auto hosts = seats.ranks;
    hosts.insert(hosts.end(), seats.spares.begin(), seats.spares.end());
    std::sort(hosts.begin(), hosts.end(), base::natural_less);
    std::list<Step> steps;
    for (const auto& one : job.on_each(words_of(hosts, wish, railcheck, most), hosts))
        begin(steps, one, heard);
    heard.in_time = finish(job, steps, began + most, heard);
    if (heard.trouble.empty()) heard.trouble = trouble_of(steps, railcheck);
    if (wish.nccl) try_nccl(job, hosts, wish.level, railcheck, heard);
    heard.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    return heard;
}

namespace {

// Asks restartd to requeue the job: if it does, this does not return.
void await_requeue(OwnJob& job, const Found& found, int level, const Lookup& get,
                   const std::function<void(const std::string&)>& say) {
    const auto id = job.id();
    const auto starts = job.starts_before();
    const auto socket = get("RAIL_CKPT_SOCKET");
    if (!socket || !id || !starts) return say("no agent is known here: the job starts all the same");
    ckpt::Agent agent(*socket, *id, *starts, 1s);
    const auto told = to_tell(found, level, true);
    // Reported first: the requeue ends this process.
    say("restartd is asked to requeue the job without " +
        base::fold_hostlist({found.failed.begin(), found.failed.end()}));
    bool requeued = false;
    for (auto until = Clock::now() + answer_most; Clock::now() < until;) {
        const auto advice = agent.preflight(told);
        if (!advice) return say(advice.error().text + ": the job starts all the same");
        if (advice->stays) return say(*advice->stays + ": the job starts all the same");
        if (advice->requeued && !std::exchange(requeued, true)) until = Clock::now() + end_most;
        std::this_thread::sleep_for(100ms);
    }
    say("restartd does not requeue it: the job starts all the same");
}

void tell(OwnJob& job, const Found& found, int level, const Lookup& get) {
    const auto id = job.id();
    const auto starts = job.starts_before();
    const auto socket = get("RAIL_CKPT_SOCKET");
    if (!socket || !id || !starts) return;
    ckpt::Agent agent(*socket, *id, *starts, 500ms);
    static_cast<void>(agent.preflight(to_tell(found, level, false)).has_value());
}

} // namespace

std::optional<Seats> preflight(OwnJob& job, const Seats& seats, const sched::PreflightWish& wish,
                               const std::string& railcheck, const Lookup& get,
                               const std::function<void(const std::string&)>& say) {
    const auto heard = try_hosts(job, seats, wish, railcheck);
    const auto found = find_failed(heard, seats);
    const auto count = seats.ranks.size() + seats.spares.size();
    say(fmt::format("preflight of {} host{} took {:.1f} s: {}", count, count == 1 ? "" : "s", heard.seconds,
                    found.verdict));
    for (const auto& line : found.lines)
        say(line);
    if (found.failed.empty()) {
        tell(job, found, wish.level, get);
        return {};
    }
    auto next = without_failed(seats, found.failed);
    if (!next) {
        await_requeue(job, found, wish.level, get, say);
        return {};
    }
    tell(job, found, wish.level, get);
    if (next->ranks != seats.ranks) say("it starts on " + base::fold_hostlist(next->ranks));
    return *std::move(next);
}

} // namespace restart::run
