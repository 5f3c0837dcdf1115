// rail-lsf-run: runs a job's command line under LSF, in the environment set by Railyard. Manual:
// rail-lsf-run(1).
//
// No failure of Railyard keeps the job from running: it is reported once on standard error, and the line
// starts without. The program has only the user's rights. nodewatchd accepts the job's number as given, but
// takes the uid from the kernel: a claim to another user's job is a separate entry that restartd drops, since
// LSF names the owner.
#include "base/agent_paths.hpp"
#include "base/child.hpp"
#include "base/cli.hpp"
#include "base/conf.hpp"
#include "base/file.hpp"
#include "base/job_folder.hpp"
#include "base/unique_fd.hpp"
#include "base/units.hpp"
#include "railyard_paths.h"
#include "restart/lsf/allocation.hpp"
#include "restart/lsf/job_environment.hpp"
#include "restart/lsf/keeper.hpp"
#include "restart/lsf/shell.hpp"
#include "restart/lsf/starts.hpp"
#include "sched/lsf/job_line.hpp"
#include "sched/lsf/program_path.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using base::Code;
using base::Error;
using base::Expected;
using restart::lsf::Allocation;
using restart::lsf::Changes;

// LSF's default for JOB_TERMINATE_INTERVAL: from INT to TERM, and from that to KILL.
constexpr base::Duration until_term = 10s;
constexpr int cannot_run = 126;
constexpr auto reruns_variable = "RAIL_LSF_RERUNS"; // for the parts of the job on its other hosts

void say(std::string_view text) {
    fmt::print(stderr, "rail-lsf-run: {}\n", text);
}

std::optional<std::string> variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void apply(const Changes& changes) {
    for (const auto& [name, value] : changes)
        if (value)
            ::setenv(name.c_str(), value->c_str(), 1);
        else
            ::unsetenv(name.c_str());
}

std::string this_host() {
    char name[HOST_NAME_MAX + 1] = "";
    ::gethostname(name, sizeof name - 1);
    const std::string whole(name);
    return whole.substr(0, whole.find('.'));
}

// Folder for files of this user's jobs on this host; private, so that no one can replace what a job reads
// there.
std::string run_folder() {
    const auto among = variable("TMPDIR").value_or("");
    return fmt::format("{}/railyard-{}", among.starts_with('/') ? among : "/tmp", ::getuid());
}

// Whether it may be started elsewhere while it still runs here, out of contact.
bool reruns(const sched::lsf::JobLine& line) {
    return line.reruns || line.hints.restart == true;
}

class Job {
public:
    Job(sched::lsf::JobLine line, base::JobId id, base::Conf conf)
        : line_(std::move(line)), id_(id), conf_(std::move(conf)) {}

    Expected<int> run() {
        const auto socket = conf_.agent.job_socket;
        const auto starts = restart::lsf::count_start(variable("LSB_JOBFILENAME").value_or(""));
        if (!starts) say(fmt::format("this start counts as the first: {}", starts.error().text));
        apply(restart::lsf::job_variables(line_.hints, id_, starts.value_or(0), socket));
        apply({{reruns_variable, reruns(line_) ? std::optional<std::string>("yes") : std::nullopt}});
        put_order();
        const bool alone = hosts_.hosts.size() == 1;
        std::string why;
        apply(restart::lsf::host_variables(this_host(), run_folder(), alone, variable, why));
        if (!why.empty() && variable("RAIL_BIND")) say(fmt::format("rail-bind: {}", why));
        apply(restart::lsf::ucx_variables(LIBDIR "/railyard/librailucx.so", variable));
        // So that a job without a client of its own is also known on its host.
        restart::lsf::Keeper keeper({socket, id_, starts.value_or(0), reruns(line_)}, say);
        bool over = false;
        restart::lsf::Watching watching{
            restart::lsf::Keeper::every, [&] { over = keeper.look() || over; },
            [&](int) {
                if (keeper.ask_to_save(until_term) || !variable("RAIL_CKPT_DIR")) return;
                say("nodewatchd cannot be told that LSF ends the job: it is not asked to save");
            }};
        const auto gone = preflight(watching);
        if (!gone) watch_checkpoints();
        auto ended = gone ? Expected<int>(*gone) : restart::lsf::run(line_.line, watching);
        if (folder_) folder_->remove();
        if (over) keeper.stand_in();
        return ended;
    }

private:
    // Reports the checkpoints that the program itself keeps as the job's, until this process ends.
    void watch_checkpoints() {
        const auto& kind = line_.hints.ckpt_kind;
        if (!kind || !line_.hints.ckpt_dir || *kind == "railckpt") return;
        const base::UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
        std::vector<std::string> words{sched::lsf::program_path("railckpt"),
                                       "watch",
                                       "--kind",
                                       *kind,
                                       "--pid",
                                       std::to_string(::getpid())};
        if (line_.hints.ckpt_signal) words.insert(words.end(), {"--signal", *line_.hints.ckpt_signal});
        const auto started =
            base::start_program(std::move(words), {nowhere.get(), base::Start::Errors::as_ours});
        if (!started) say(fmt::format("railckpt watch: {}: no checkpoint is reported", started.error().text));
    }

    void put_order() {
        auto hosts = restart::lsf::allocation_of(variable);
        if (!hosts) return say(fmt::format("no order of hosts: {}", hosts.error().text));
        hosts_ = *std::move(hosts);
        std::string why;
        const auto lists = restart::lsf::lists_of(hosts_, line_.hints, conf_.placement.fabric, why);
        if (!why.empty()) say(fmt::format("hosts are in LSF's order: {}", why));
        put_order(lists);
    }
    void put_order(const spank::RankLists& lists) {
        apply(restart::lsf::order_variables(lists, write_hostfile(lists),
                                            sched::lsf::program_path("rail-lsf-rsh"), variable));
    }

    // railrun checks the job's hosts, and decides where the line runs. Returns an exit status if the job is
    // being ended; its line is then not started.
    std::optional<int> preflight(const restart::lsf::Watching& watching) {
        if (line_.preflight.empty()) return {};
        const base::UniqueFd answer(::memfd_create("railrun-answer", MFD_CLOEXEC));
        const auto railrun = sched::lsf::program_path("railrun");
        const auto ended = restart::lsf::run(
            [&] {
                ::dup2(answer.get(), STDOUT_FILENO);
                ::execl(railrun.c_str(), "railrun", "--preflight", line_.preflight.c_str(),
                        static_cast<char*>(nullptr));
                return base::system_error(railrun, errno);
            },
            watching);
        if (ended && (*ended == 128 + SIGINT || *ended == 128 + SIGTERM)) return *ended;
        std::string text(std::size_t{1} << 20, '\0');
        const auto n = ::pread(answer.get(), text.data(), text.size(), 0);
        text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        const auto lists = spank::read_rank_lists(text);
        if (lists && spank::same_hosts(*lists, hosts_.hosts)) put_order(*lists);
        return {};
    }

    std::string write_hostfile(const spank::RankLists& lists) {
        if (!folder_) {
            base::remove_left_job_folders(run_folder());
            auto folder = base::JobFolder::hold(run_folder(), id_);
            if (!folder) {
                say(fmt::format("no RAIL_HOSTFILE: {}", folder.error().text));
                return {};
            }
            folder_ = *std::move(folder);
        }
        auto path = folder_->path() + "/hosts";
        if (auto written = base::write_file(path, restart::lsf::hostfile_of(lists, hosts_)); !written) {
            say(fmt::format("no RAIL_HOSTFILE: {}", written.error().text));
            return {};
        }
        return path;
    }

    sched::lsf::JobLine line_;
    base::JobId id_;
    base::Conf conf_;
    Allocation hosts_;
    std::optional<base::JobFolder> folder_;
};

// Runs a part of a job on another of its hosts: started by rail-lsf-rsh, with the environment of the first.
Error on_host(const std::string& line) {
    std::string why;
    apply(restart::lsf::host_variables(this_host(), run_folder(), true, variable, why));
    const auto id = base::JobId::parse(variable("RAIL_JOB_ID").value_or(""));
    const auto start = base::parse_count(variable("RAIL_RESTART_COUNT").value_or(""));
    const auto socket = variable("RAIL_CKPT_SOCKET");
    if (id && start && socket)
        restart::lsf::keep_apart(
            {*socket, *id, static_cast<std::uint32_t>(*start), variable(reruns_variable).has_value()});
    return restart::lsf::become(line);
}

// The words from esub.rail and, if the line is a part of a job, that.
struct Words {
    sched::lsf::JobLine line;
    bool on_host = false;
};

std::optional<Words> read_words(const std::vector<std::string>& given) {
    Words words;
    std::string text = "rail-lsf-run";
    for (const auto& word : given)
        if (word == "--on-host" && !words.on_host)
            words.on_host = true;
        else
            text.append(1, ' ').append(word);
    auto line = sched::lsf::parse_job_line(text);
    if (!line) return {};
    words.line = *std::move(line);
    return words;
}

Expected<int> start(const std::vector<std::string>& given) {
    auto words = read_words(given);
    if (!words)
        return Error{
            Code::usage,
            "the words are those of esub.rail, --line=COMMAND the last, each byte but letters, digits "
            "and _./:=,+@- as % and two hexadecimal digits: see rail-lsf-run(1)"};
    if (words->on_host) return on_host(words->line.line);
    const auto id = restart::lsf::job_of(variable);
    if (!id) return id.error();
    auto conf = base::load_conf("", {base::ConfTable::placement, base::ConfTable::agent});
    if (!conf) say(fmt::format("the defaults count: {}", conf.error().text));
    return Job(std::move(words->line), *id, conf ? *std::move(conf) : base::Conf()).run();
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("rail-lsf-run", "Runs a job's command line under LSF, as esub.rail has written it.",
                  "rail-lsf-run(1)");
    std::map<std::string, std::string> flags;
    for (const auto flag : sched::hint_flags())
        cli->add_option(fmt::format("--{}", flag), flags[std::string(flag)], "As sbatch's, for esub.rail");
    std::string line, again, preflight;
    cli->add_option("--rail-preflight", preflight, "As sbatch's, for esub.rail");
    cli->add_option("--reruns", again, "yes: LSF starts the job again by itself");
    bool part = false;
    cli->add_flag("--on-host", part, "The line is a part of a job, on another of its hosts");
    cli->add_option("--line", line, "What /bin/sh is to execute, encoded")->required();
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() == 1 && (words[0] == "--help" || words[0] == "--version")) {
        int status = 0;
        return cli.parse(argc, argv, status) ? base::exit_usage : status;
    }
    try {
        const auto ended = start(words);
        if (ended) return *ended;
        cli.fail(ended.error());
        return ended.error().code == Code::usage ? base::exit_usage : cannot_run;
    } catch (const std::exception& error) {
        say(error.what());
    }
    return cannot_run;
}
