#include "restart/ckpt/asking.hpp"

#include "base/file.hpp"
#include "base/unique_fd.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <iterator>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace restart::ckpt {
namespace {

using base::CkptSignal;
using base::Code;
using base::Error;
using base::Expected;

// What the file holds: whoever finds it knows whose it is.
constexpr std::string_view file_text = "railckpt: save\n";

// Ranks by their launcher, the nearest to the program first: torchrun's agents have no RANK, mpirun none of
// Open MPI's, and srun itself no step.
constexpr std::array rank_variables{"RANK=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "SLURM_STEP_ID="};

bool catches(pid_t pid, int number) {
    constexpr std::string_view field = "\nSigCgt:\t";
    const auto status = base::read_file(fmt::format("/proc/{}/status", pid), 1 << 16);
    const auto at = status ? status->find(field) : std::string::npos;
    if (at == std::string::npos) return false;
    const char* begin = status->data() + at + field.size();
    std::uint64_t caught = 0;
    std::from_chars(begin, status->data() + status->size(), caught, 16);
    return (caught >> (number - 1) & 1) != 0;
}

// Neither a link nor anything but our own file is removed.
void remove_ours(const std::string& path) {
    const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat what {};
    std::array<char, file_text.size() + 1> text{};
    if (!file || ::fstat(file.get(), &what) != 0 || !S_ISREG(what.st_mode) || what.st_uid != ::geteuid())
        return;
    const auto n = ::read(file.get(), text.data(), text.size());
    if (n >= 0 && std::string_view(text.data(), static_cast<std::size_t>(n)) == file_text)
        ::unlink(path.c_str());
}

} // namespace

std::vector<std::string> job_marks(const std::function<const char*(const char*)>& getenv) {
    const auto mark = [&](const char* name) -> std::optional<std::string> {
        const char* value = getenv(name);
        if (value == nullptr || *value == '\0') return {};
        return fmt::format("{}={}", name, value);
    };
    std::vector<std::string> marks;
    if (auto job = mark("SLURM_JOB_ID")) return {*std::move(job)};
    for (const char* name : {"RAIL_JOB_ID", "RAIL_RESTART_COUNT"})
        if (auto part = mark(name)) marks.push_back(*std::move(part));
    if (marks.size() < 2) marks.clear();
    return marks;
}

std::vector<pid_t> ranks_among(const std::vector<Catcher>& catchers, std::optional<pid_t> script,
                               const std::function<pid_t(pid_t)>& parent_of) {
    std::vector<pid_t> ranks;
    for (const auto* variable : rank_variables) {
        for (const auto& one : catchers)
            if (has_variable(one.environment, variable)) ranks.push_back(one.pid);
        if (!ranks.empty()) break;
    }
    if (ranks.empty())
        for (const auto& one : catchers)
            if (one.pid != script) ranks.push_back(one.pid);
    const auto is_rank = [&](pid_t pid) { return std::find(ranks.begin(), ranks.end(), pid) != ranks.end(); };
    std::vector<pid_t> highest;
    for (const auto& one : catchers) {
        if (!is_rank(one.pid)) continue;
        auto above = one.parent;
        for (int steps = 0; above > 1 && !is_rank(above) && steps < 64; ++steps)
            above = parent_of(above);
        if (!is_rank(above)) highest.push_back(one.pid);
    }
    return highest;
}

Asking::Asking(CkptSignal how, std::vector<std::string> marks, std::optional<pid_t> script)
    : how_(std::move(how)), processes_(marks), in_job_(!marks.empty()), script_(script) {}

void Asking::begin() {
    if (how_.way == CkptSignal::Way::file) remove_ours(how_.path);
}

Expected<std::string> Asking::ask() {
    if (how_.way == CkptSignal::Way::file) return make_file();
    auto sent = send(true);
    if (!sent) return std::move(sent).error();
    return fmt::format("{} sent to process{} {}", base::signal_name(how_.number),
                       sent->size() > 1 ? "es" : "", fmt::join(*sent, ", "));
}

Expected<std::string> Asking::foresee() const {
    if (how_.way == CkptSignal::Way::file)
        return base::printable(how_.path, 300) + " would be made (--ckpt-signal)";
    auto whom = send(false);
    if (!whom) return std::move(whom).error();
    return fmt::format("{} would be sent to process{} {} (--ckpt-signal={})", base::signal_name(how_.number),
                       whom->size() > 1 ? "es" : "", fmt::join(*whom, ", "), to_string(how_));
}

void Asking::done() {
    if (made_) remove_ours(how_.path);
    made_ = false;
}

std::vector<pid_t> Asking::candidates() const {
    if (how_.to == CkptSignal::To::process) return {how_.process};
    auto pids = processes_.found();
    // Where it has started this process it is none of those found.
    if (script_ && std::find(pids.begin(), pids.end(), *script_) == pids.end()) pids.push_back(*script_);
    return pids;
}

std::vector<pid_t> Asking::choose(const std::vector<Catcher>& catchers) const {
    if (how_.to == CkptSignal::To::ranks) return ranks_among(catchers, script_, parent_of);
    const auto of = [&](auto wanted) {
        std::vector<pid_t> pids;
        for (const auto& one : catchers)
            if (wanted(one)) pids.push_back(one.pid);
        return pids;
    };
    if (how_.to == CkptSignal::To::process) return of([](const Catcher&) { return true; });
    auto script = of([&](const Catcher& one) { return one.pid == script_; });
    return script.empty() ? of([&](const Catcher& one) { return one.parent == script_; }) : script;
}

Expected<std::vector<pid_t>> Asking::send(bool really) const {
    if (how_.way == CkptSignal::Way::none)
        return Error{Code::unavailable,
                     "its program is not asked: no way to ask it is known (--ckpt-signal)"};
    if (!in_job_) return Error{Code::unavailable, "no process is asked: this is not in a job"};
    // The descriptor first: what is then read of the process is of the one that gets the signal.
    std::vector<Catcher> catchers;
    std::vector<std::pair<pid_t, base::UniqueFd>> open;
    for (const auto pid : candidates()) {
        base::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
        if (!process && errno != ENOSYS) continue;
        auto environment = processes_.environment_of(pid);
        if (!environment || !catches(pid, how_.number)) continue;
        catchers.push_back({pid, parent_of(pid), *std::move(environment)});
        open.emplace_back(pid, std::move(process));
    }
    const auto chosen = choose(catchers);
    std::vector<pid_t> sent;
    for (const auto& [pid, process] : open)
        if (std::find(chosen.begin(), chosen.end(), pid) != chosen.end() &&
            (!really || (process ? ::syscall(SYS_pidfd_send_signal, process.get(), how_.number, nullptr, 0)
                                 : ::kill(pid, how_.number)) == 0))
            sent.push_back(pid);
    if (sent.empty())
        return Error{Code::unavailable,
                     fmt::format("no process of the job on this host that {} may be sent catches it "
                                 "(--ckpt-signal={})",
                                 base::signal_name(how_.number), to_string(how_))};
    return sent;
}

Expected<std::string> Asking::make_file() {
    const base::UniqueFd file(
        ::open(how_.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    const auto shown = base::printable(how_.path, 300);
    if (!file && errno == EEXIST) return shown + " is there already";
    if (!file) return base::system_error(shown, errno);
    if (::write(file.get(), file_text.data(), file_text.size()) != std::ssize(file_text)) {
        const int number = errno;
        ::unlink(how_.path.c_str());
        return base::system_error(shown, number);
    }
    made_ = true;
    return shown + " made";
}

} // namespace restart::ckpt
