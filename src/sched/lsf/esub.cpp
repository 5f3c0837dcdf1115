// esub.rail: reads, checks and rewrites what bsub is about to submit. Manual: esub.rail(8).
//
// LSF treats every exit status except 97 as approval of the unchanged submission. So all errors end in 97
// with a sentence on standard error, which bsub shows, and the output for LSF is complete or absent. It runs
// as the submitting user.
#include "base/cli.hpp"
#include "base/conf.hpp"
#include "base/file.hpp"
#include "base/standard_files.hpp"
#include "base/unique_fd.hpp"
#include "sched/ask/spare_floor.hpp"
#include "sched/lsf/bsub.hpp"
#include "sched/lsf/program_path.hpp"
#include "topo/fabric_json.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

using base::Code;
using base::Error;
using base::Expected;
using sched::lsf::Parameters;

constexpr int refused = 97; // LSB_SUB_ABORT_VALUE
constexpr std::size_t largest_file = 1 << 20;

const char* variable(const char* name) {
    return std::getenv(name);
}

void say(std::string_view text) {
    fmt::print(stderr, "esub.rail: {}\n", text);
}

// The rest of a file. Errors: Code::input if it is longer than `most`.
Expected<std::string> rest_of(int fd, std::size_t most, const std::string& path) {
    std::string text;
    for (std::string part(std::size_t{64} << 10, '\0');;) {
        const auto n = ::read(fd, part.data(), part.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return base::system_error(path, errno);
        if (n == 0) return text;
        text.append(part, 0, static_cast<std::size_t>(n));
        if (text.size() > most)
            return Error{Code::input, fmt::format("{}: has more than {} bytes", path, most)};
    }
}

// LSF's files are in /tmp and have predictable names. Nothing: there is none. Errors: it is not a regular
// file, belongs to another user, or cannot be read.
Expected<std::optional<Parameters>> parameters_in(const std::string& path) {
    const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fd && errno == ENOENT) return std::optional<Parameters>{};
    struct stat info {};
    if (!fd || ::fstat(fd.get(), &info) != 0) return base::system_error(path, errno);
    if (!S_ISREG(info.st_mode) || (info.st_uid != ::getuid() && info.st_uid != 0))
        return Error{Code::denied, path + ": is no file of the user who submits"};
    const auto text = rest_of(fd.get(), largest_file, path);
    if (!text) return text.error();
    auto parameters = Parameters::parse(*text, path);
    if (!parameters) return std::move(parameters).error();
    return std::optional<Parameters>(*std::move(parameters));
}

// bsub's standard input, if it is a file: opened again, as bsub has already read to its end.
std::optional<sched::lsf::Script> input_of_bsub() {
    const auto path = fmt::format("/proc/{}/fd/0", ::getppid());
    const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    struct stat info {};
    if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
    auto text = rest_of(fd.get(), largest_file, path);
    if (!text) return {};
    std::error_code failed;
    const auto name = std::filesystem::read_symlink(path, failed).filename().string();
    return sched::lsf::Script{name, *std::move(text)};
}

// The largest possible gang. Without a readable fabric nothing is too large: restartd reports what never fits
// when it places the job.
std::optional<sched::Capacity> capacity_by(const base::Conf& conf) {
    if (conf.placement.fabric.empty() || ::access(conf.placement.fabric.c_str(), F_OK) != 0) return {};
    const auto fabric = topo::read_fabric(conf.placement.fabric);
    if (!fabric) {
        say(fmt::format("the size of the job is not checked: {}", fabric.error().text));
        return {};
    }
    auto capacity = sched::Capacity::of(*fabric);
    capacity.spare_floor = sched::spare_floor_of(conf.placement, conf.checkpoint, *fabric);
    return capacity;
}

Expected<void> judge_submission(const std::vector<std::string>& words) {
    const char* from = variable("LSB_SUB_PARM_FILE");
    const char* to = variable("LSB_SUB_MODIFY_FILE");
    if (from == nullptr || to == nullptr)
        return Error{Code::usage, "LSB_SUB_PARM_FILE and LSB_SUB_MODIFY_FILE are not set: bsub runs it"};
    auto job = parameters_in(from);
    if (!job) return std::move(job).error();
    if (!*job) return Error{Code::not_found, fmt::format("{}: is not there, bsub should have made it", from)};
    if ((*job)->yes("LSB_SUB_MODIFY")) return {}; // bmod, for a job that was judged at submission
    auto earlier = parameters_in(to);             // of esubs that ran before
    if (!earlier) return std::move(earlier).error();
    auto changes = (*earlier).value_or(Parameters());
    (*job)->put(changes);

    const auto hints = sched::lsf::flags_of(words, variable);
    if (!hints) return hints.error();
    const auto preflight = sched::lsf::preflight_of(words, variable);
    if (!preflight) return preflight.error();
    const auto conf =
        base::load_conf("", {base::ConfTable::placement, base::ConfTable::checkpoint, base::ConfTable::lsf});
    if (!conf) {
        if (!hints->empty() || !preflight->empty()) return conf.error();
        // As plain esub it runs for every job, also those without Railyard.
        say(fmt::format("{}; the job is submitted as it is", conf.error().text));
        return {};
    }
    sched::lsf::Site site;
    site.parking_queues = conf->lsf.parking_queues;
    site.held = conf->lsf.gangs_wait == "held";
    site.program = sched::lsf::program_path("rail-lsf-run");
    site.input = input_of_bsub;
    if (!hints->empty()) site.capacity = capacity_by(*conf);
    const auto rewritten = rewrite(**job, *hints, site, variable, *preflight);
    if (!rewritten) return rewritten.error();
    if (!rewritten->note.empty()) say(rewritten->note);
    if (rewritten->changes.empty()) return {};
    changes.put(rewritten->changes);
    return base::write_file(to, changes.print(), 0600);
}

} // namespace

int main(int argc, char** argv) {
    base::open_standard_files();
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (words.size() == 1 && (words[0] == "--help" || words[0] == "--version")) {
            base::Cli cli("esub.rail",
                          "Checks and rewrites what bsub is about to submit to LSF; bsub runs it.",
                          "esub.rail(8)");
            int status = 0;
            return cli.parse(argc, argv, status) || status != 0 ? refused : 0;
        }
        const auto done = judge_submission(words);
        if (done) return 0;
        say(done.error().text);
    } catch (const std::exception& error) {
        say(error.what());
    } catch (...) {
        say("failed for an unknown reason");
    }
    return refused;
}
