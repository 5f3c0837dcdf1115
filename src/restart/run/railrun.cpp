// railrun: restarts a step of a job inside its allocation if one of its hosts is lost or must be left.
// Manual: railrun(1). course.cpp makes the decisions; this file does the I/O.
#include "railyard_paths.h"

#include "base/cli.hpp"
#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/ckpt/agent.hpp"
#include "restart/run/checkpoints.hpp"
#include "restart/run/command.hpp"
#include "restart/run/course.hpp"
#include "restart/run/nameless_file.hpp"
#include "restart/run/options.hpp"
#include "restart/run/own_job.hpp"
#include "restart/run/preflight_step.hpp"
#include "restart/run/process.hpp"
#include "restart/run/warm.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace {

using namespace restart::run;
using namespace std::chrono_literals;
using base::Code;
using base::Expected;
using restart::JobRun;

constexpr int no_such_command = 127;                       // as a shell's exit status
constexpr std::chrono::milliseconds agent_patience{1'000}; // nothing waits for railrun in this time

void say(const std::string& text) {
    fmt::print(stderr, "railrun: {}\n", text);
    std::fflush(stderr);
}

std::optional<std::string> variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

// Signals as a descriptor to poll. Blocked from here on; Process unblocks them for its children.
base::UniqueFd signals_taken() {
    sigset_t taken;
    ::sigemptyset(&taken);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH})
        ::sigaddset(&taken, number);
    ::sigprocmask(SIG_BLOCK, &taken, nullptr);
    return base::UniqueFd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Runner {
public:
    Runner(const RunOptions& options, OwnJob& job, Given given, base::UniqueFd signals)
        : options_(options), job_(job), given_(std::move(given)), signals_(std::move(signals)),
          checkpoints_(given_.get) {
        const auto id = job_.id();
        const auto starts = job_.starts_before();
        if (const auto socket = variable("RAIL_CKPT_SOCKET"); socket && id && starts)
            agent_.emplace(*socket, *id, *starts, agent_patience);
        if (options_.warm) {
            std::error_code failed;
            const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
            warmer_ = std::make_unique<Warmer>(files_named(given_.words, variable("PATH").value_or("")),
                                               failed ? "railrun" : self.string(), options_.warm_most);
        }
    }

    Expected<int> run(Seats seats, Hosts allocation) {
        Rules rules;
        rules.max_restarts = options_.max_restarts;
        rules.settle = options_.settle;
        rules.may_requeue = job_.may_requeue() && variable("RAIL_RESTART") == "auto";
        course_.emplace(rules, seats, allocation, checkpoints_.newest());
        allocation_ = std::move(allocation);
        if (auto begun = launch(seats); !begun) return begun.error();
        while (!status_) {
            take_signals();
            if (const auto ended = child_.reap()) feed(Ended{*ended});
            ask_agent();
            feed(Passed{});
            warm();
            if (!status_) wait();
        }
        if (warmer_) warmer_->stop();
        return *status_;
    }

private:
    void wait() const {
        pollfd watched{signals_.get(), POLLIN, 0};
        ::poll(&watched, 1, course_->hurried() ? 20 : 200);
    }

    void take_signals() {
        std::array<signalfd_siginfo, 8> taken{};
        for (;;) {
            const auto n = ::read(signals_.get(), taken.data(), sizeof taken);
            if (n <= 0) return;
            for (std::size_t i = 0; i < static_cast<std::size_t>(n) / sizeof taken[0]; ++i)
                if (taken[i].ssi_signo != SIGCHLD)
                    feed(Signalled{static_cast<int>(taken[i].ssi_signo),
                                   taken[i].ssi_code == SI_KERNEL || job_.reached_launcher(taken[i])});
        }
    }

    void ask_agent() {
        const auto now = std::chrono::steady_clock::now();
        if (!agent_ || over_ || now - asked_ < (course_->hurried() ? 50ms : 200ms)) return;
        asked_ = now;
        auto advice = agent_->run(course_->run());
        const auto trouble = advice ? std::string() : advice.error().text;
        if (trouble != trouble_ && !trouble.empty()) say(trouble + ": restartd is not heard");
        trouble_ = trouble;
        feed(Advised{advice ? std::optional(*std::move(advice)) : std::nullopt});
    }

    // Processes the event, and all events that follow from it.
    void feed(const Event& event) {
        std::deque<Event> events{event};
        while (!events.empty() && !status_) {
            for (auto& command : course_->on(events.front(), base::now()))
                if (auto next = std::visit([&](auto& what) { return perform(what); }, command))
                    events.push_back(*std::move(next));
            events.pop_front();
        }
    }

    std::optional<Event> perform(const Say& what) {
        say(what.text);
        return {};
    }
    std::optional<Event> perform(const Forward& what) {
        child_.send(what.number);
        return {};
    }
    std::optional<Event> perform(const End& what) {
        child_.send(what.kill ? SIGKILL : SIGTERM);
        if (what.kill) job_.kill_launches();
        return {};
    }
    std::optional<Event> perform(const Look&) {
        auto hosts = job_.hosts();
        if (hosts) allocation_ = *hosts;
        return Looked{hosts ? std::optional(*std::move(hosts)) : std::nullopt, checkpoints_.newest()};
    }
    std::optional<Event> perform(const Over&) {
        over_ = true;
        if (agent_) static_cast<void>(agent_->over().has_value());
        return {};
    }
    std::optional<Event> perform(const Requeue&) {
        if (auto done = job_.requeue(); !done) say("the job is not requeued: " + done.error().text);
        return {};
    }
    std::optional<Event> perform(const Exit& what) {
        status_ = what.status;
        return {};
    }
    std::optional<Event> perform(const Launch& what) {
        if (warmer_) warmer_->stop();
        job_.clear_before_launch();
        const auto begun = launch(what.seats);
        if (begun) return {};
        say(begun.error().text);
        return Ended{no_such_command};
    }

    Expected<void> launch(const Seats& seats) {
        auto started = job_.command_on(given_, seats, allocation_, hostfile_.path());
        hostfile_.write(started.hostfile);
        started.environment["RAIL_LAUNCH"] = fmt::format("{}", course_->launch());
        const auto claimed = checkpoints_.claim();
        if (!claimed) say(claimed.error().text + ": ranks of an earlier launch are not fenced off");
        started.environment["RAIL_CKPT_LAUNCH"] =
            claimed && !claimed->empty() ? std::optional(*claimed) : std::nullopt;
        return child_.start(started);
    }

    void warm() {
        const auto now = std::chrono::steady_clock::now();
        if (!warmer_ || course_->hurried() || now - warmed_ < 1s) return;
        warmed_ = now;
        warmer_->look(course_->seats().spares, checkpoints_.newest_path());
    }

    RunOptions options_;
    OwnJob& job_;
    Given given_;
    base::UniqueFd signals_;
    Checkpoints checkpoints_;
    NamelessFile hostfile_;
    std::optional<restart::ckpt::Agent> agent_;
    std::unique_ptr<Warmer> warmer_;
    std::optional<Course> course_;
    Process child_;
    Hosts allocation_;
    std::optional<int> status_;
    bool over_ = false;
    std::string trouble_;
    std::chrono::steady_clock::time_point asked_{}, warmed_{};
};

Expected<Seats> seats_given() {
    Seats given;
    auto ranks = base::expand_hostlist(variable("RAIL_NODELIST").value_or(""));
    if (!ranks) return std::move(ranks).error().within("RAIL_NODELIST");
    auto spares = base::expand_hostlist(variable("RAIL_SPARE_NODELIST").value_or(""));
    if (!spares) return std::move(spares).error().within("RAIL_SPARE_NODELIST");
    return Seats{*std::move(ranks), *std::move(spares)};
}

// The seats of the job's first launch.
Expected<Seats> seats_now(const Hosts& allocation) {
    const auto lists = seats_given();
    if (!lists) return lists.error();
    const auto spares = base::parse_count(variable("RAIL_SPARES").value_or("0"));
    return first_seats(allocation, *lists, spares ? *spares : 0);
}

// Prints the host lists with which spank_rail replaces its own.
Expected<int> run_preflight(const RunOptions& options) {
    if (variable("SLURM_HET_SIZE"))
        return base::Error{Code::usage, "--preflight: a heterogeneous job is not tried"};
    auto job = own_job(variable);
    if (!job) return std::move(job).error();
    if (options.preflight->level == 0) return base::exit_done;
    auto allocation = (*job)->hosts();
    if (!allocation) return std::move(allocation).error();
    auto seats = seats_now(*allocation);
    if (!seats) return std::move(seats).error();
    const auto railcheck = !options.railcheck.empty()
                               ? options.railcheck
                               : variable("RAIL_RAILCHECK").value_or(SBINDIR "/railcheck");
    const auto next = preflight(**job, *seats, *options.preflight, railcheck, variable, say);
    if (next)
        fmt::print("RAIL_NODELIST={}\nRAIL_SPARE_NODELIST={}\n", base::fold_hostlist(next->ranks),
                   base::fold_hostlist(next->spares));
    return base::exit_done;
}

Expected<int> run(const RunOptions& options, Words words) {
    Given given{std::move(words), variable, variable("RAIL_NODELIST").has_value()};
    auto job = own_job(given.get);
    if (!job) return std::move(job).error();
    if (options.warm && !(*job)->can_warm())
        return base::Error{Code::usage,
                           "--warm: spares read ahead in steps of Slurm: leave it out under LSF"};
    auto signals = signals_taken();
    if (!signals) return base::system_error("signalfd", errno);
    auto allocation = (*job)->hosts();
    if (!allocation) return std::move(allocation).error();
    auto seats = seats_now(*allocation);
    if (!seats) return std::move(seats).error();
    if (auto sound = (*job)->check(given, *seats); !sound) return std::move(sound).error();
    return Runner(options, **job, std::move(given), std::move(signals))
        .run(*std::move(seats), *std::move(allocation));
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("railrun",
                  "Runs a step of a job, and starts it again inside the allocation when it loses a host.",
                  "railrun(1)");
    auto split = split_words(argc, argv);
    Arguments arguments;
    declare(cli, arguments);
    int status = 0;
    std::vector<char*> own;
    for (auto& word : split.own)
        own.push_back(word.data());
    own.push_back(nullptr);
    if (!cli.parse(static_cast<int>(split.own.size()), own.data(), status)) return status;
    const auto options = read(arguments);
    if (!options) return cli.fail(options.error());
    if (options->read_ahead) {
        const auto done = read_ahead(split.command, *options->read_ahead);
        fmt::print("{} bytes of {} files{}\n", done.bytes, done.files, done.whole ? "" : ", up to the bound");
        return base::finish_output(cli, base::exit_done);
    }
    if (options->preflight) {
        const auto done = run_preflight(*options);
        return done ? base::finish_output(cli, *done) : cli.fail(done.error());
    }
    if (split.command.empty())
        return cli.fail({Code::usage, "no command: railrun srun PROGRAM, or railrun mpirun PROGRAM"});
    const auto ended = run(*options, std::move(split.command));
    if (ended) return *ended;
    const int failed = cli.fail(ended.error());
    return ended.error().code == Code::not_found ? no_such_command : failed;
}
