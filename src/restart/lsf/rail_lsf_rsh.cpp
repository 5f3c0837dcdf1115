// rail-lsf-rsh: the rsh of a launcher, within a job of LSF: runs HOST COMMAND … on another of its hosts.
// Manual: rail-lsf-rsh(1).
//
// As with rsh and ssh the words are joined into one line for a shell there; they are encoded for transport,
// so that neither blaunch nor lsrun splits them.
#include "base/cli.hpp"
#include "sched/lsf/job_line.hpp"
#include "sched/lsf/program_path.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

constexpr int cannot_run = 126;

// LSF's own command of this name: next to its others, else on PATH. Empty: not found.
std::string find(std::string_view name) {
    std::vector<std::string> folders;
    if (const char* bin = std::getenv("LSF_BINDIR"); bin != nullptr) folders.emplace_back(bin);
    const char* path = std::getenv("PATH");
    for (std::string_view rest = path == nullptr ? "" : path; !rest.empty();) {
        const auto part = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        folders.emplace_back(part);
    }
    for (const auto& folder : folders) {
        const auto file = fmt::format("{}/{}", folder, name);
        if (folder.starts_with('/') && ::access(file.c_str(), X_OK) == 0) return file;
    }
    return {};
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("rail-lsf-rsh", "Runs a command on another host of this job of LSF.", "rail-lsf-rsh(1)");
    const std::vector<std::string> given(argv + 1, argv + argc);
    if (given.size() == 1 && (given[0] == "--help" || given[0] == "--version")) {
        int status = 0;
        return cli.parse(argc, argv, status) ? base::exit_usage : status;
    }
    if (given.size() < 2 || given[0].empty() || given[0].starts_with('-'))
        return cli.fail({base::Code::usage, "HOST and a command are wanted, as rsh takes them"});
    std::string line;
    for (std::size_t i = 1; i < given.size(); ++i)
        line += (i == 1 ? "" : " ") + given[i];

    // blaunch is LSF's own, and accounts for the command's usage; engines without it have lsrun.
    std::vector<std::string> words;
    if (auto blaunch = find("blaunch"); !blaunch.empty())
        words = {std::move(blaunch), given[0]};
    else if (auto lsrun = find("lsrun"); !lsrun.empty())
        words = {std::move(lsrun), "-m", given[0], "--"};
    else
        return cli.fail(
            {base::Code::not_found, "neither blaunch nor lsrun of LSF is in LSF_BINDIR or on PATH"});
    words.insert(words.end(), {sched::lsf::program_path("rail-lsf-run"), "--on-host",
                               "--line=" + sched::lsf::encode_value(line)});
    std::vector<char*> pointers;
    for (auto& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    cli.fail(base::system_error(words[0], errno));
    return cannot_run;
}
