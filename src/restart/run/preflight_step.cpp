#include "restart/run/preflight_step.hpp"

#include "base/hostlist.hpp"
#include "base/unique_fd.hpp"
#include "base/units.hpp"
#include "restart/ckpt/agent.hpp"
#include "restart/run/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace restart::run {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// All of it, and the part of it for the hosts' own measuring: starting and ending a step takes time, too.
constexpr std::chrono::seconds quick_most{10}, full_most{180};
constexpr std::chrono::seconds step_needs{3};
// For restartd's answer, which may have to read its resource manager first; and for the job's end.
constexpr std::chrono::seconds answer_most{20}, end_most{60};

Started step_of(const Seats& seats, const spank::PreflightWish& wish, const std::string& railcheck,
                std::chrono::seconds most) {
    auto hosts = seats.ranks;
    hosts.insert(hosts.end(), seats.spares.begin(), seats.spares.end());
    std::sort(hosts.begin(), hosts.end(), base::natural_less);
    const auto count = fmt::format("{}", hosts.size());
    Started step;
    // --overlap: it takes nothing that the script's own steps could wait for, and shares the job's GPUs.
    step.words = {"srun",
                  "--quiet",
                  "--overlap",
                  "--nodes=" + count,
                  "--ntasks=" + count,
                  "--ntasks-per-node=1",
                  "--nodelist=" + base::fold_hostlist(hosts),
                  "--no-kill",
                  "--kill-on-bad-exit=0",
                  "--mpi=none",
                  "--input=none",
                  "--job-name=rail-preflight",
                  railcheck,
                  "preflight",
                  fmt::format("--level={}", wish.level),
                  fmt::format("--deadline={}s", (most - step_needs).count())};
    if (wish.net && hosts.size() > 1) step.words.emplace_back("--net");
    for (const char* name :
         {"SLURM_HOSTFILE", "SLURM_DISTRIBUTION", "SLURM_NTASKS_PER_NODE", "SLURM_CPU_BIND",
          "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SLURM_EXCLUSIVE",
          "SLURM_EXACT", "SLURM_GPUS_PER_TASK", "RAIL_PREFLIGHT"})
        step.environment[name] = std::nullopt;
    step.environment["RAIL_BIND"] = "off"; // all GPUs of the job, whichever a rank would have
    return step;
}

// What is whole of `text` goes into `heard`; what is no word, an error of srun's, is kept as trouble.
void take_lines(std::string& text, Heard& heard) {
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
        if (auto word = read_check_word(std::string_view(text).substr(0, end)))
            heard.words.push_back(*std::move(word));
}

} // namespace

Heard try_hosts(OwnJob& job, const Seats& seats, const spank::PreflightWish& wish,
                const std::string& railcheck) {
    constexpr std::size_t longest_text = 1 << 20;
    const auto most = wish.level > 1 ? full_most : quick_most;
    const auto began = Clock::now(), deadline = began + most;
    Heard heard;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        heard.trouble = base::system_error("pipe", errno).text;
        return heard;
    }
    const base::UniqueFd from(ends[0]);
    base::UniqueFd to(ends[1]);
    Process step;
    if (auto started = step.start(step_of(seats, wish, railcheck, most), to.get()); !started) {
        heard.trouble = started.error().text;
        return heard;
    }
    to = {};
    std::string text;
    for (bool open = true; open;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd watched{from.get(), POLLIN, 0};
        if (left <= 0ms || ::poll(&watched, 1, static_cast<int>(left.count())) == 0) {
            heard.in_time = false;
            break;
        }
        std::array<char, 16384> block{};
        const auto n = ::read(from.get(), block.data(), block.size());
        if (n < 0 && errno == EINTR) continue;
        open = n > 0 && text.size() < longest_text;
        if (n > 0) text.append(block.data(), static_cast<std::size_t>(n));
        take_lines(text, heard);
    }
    heard.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    std::optional<int> status;
    for (const auto until = Clock::now() + (heard.in_time ? 2s : 0s); !(status = step.reap());) {
        if (Clock::now() >= until) break;
        std::this_thread::sleep_for(5ms);
    }
    if (!status) {
        step.send(SIGKILL);
        job.kill_launches();
    } else if (*status != 0 && heard.words.empty()) {
        heard.trouble = fmt::format("{} could not be run on the job's hosts: srun ended with status {}",
                                    railcheck, *status);
    }
    return heard;
}

namespace {

// Whether restartd requeues the job: then this does not return.
void await_requeue(OwnJob& job, const Found& found, const Lookup& get,
                   const std::function<void(const std::string&)>& say) {
    const auto id = job.id();
    const auto starts = job.starts_before();
    const auto socket = get("RAIL_CKPT_SOCKET");
    if (!socket || !id || !starts) return say("no agent is known here: the job starts all the same");
    ckpt::Agent agent(*socket, *id, *starts, 1s);
    const auto told = to_tell(found, true);
    // Said now: with its requeue this ends.
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

void tell(OwnJob& job, const Found& found, const Lookup& get) {
    const auto id = job.id();
    const auto starts = job.starts_before();
    const auto socket = get("RAIL_CKPT_SOCKET");
    if (!socket || !id || !starts) return;
    ckpt::Agent agent(*socket, *id, *starts, 500ms);
    static_cast<void>(agent.preflight(to_tell(found, false)).has_value());
}

} // namespace

std::optional<Seats> preflight(OwnJob& job, const Seats& seats, const spank::PreflightWish& wish,
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
        tell(job, found, get);
        return {};
    }
    auto next = without_failed(seats, found.failed);
    if (!next) {
        await_requeue(job, found, get, say);
        return {};
    }
    tell(job, found, get);
    if (next->ranks != seats.ranks) say("it starts on " + base::fold_hostlist(next->ranks));
    return *std::move(next);
}

} // namespace restart::run
