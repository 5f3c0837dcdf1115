#include "restart/ctl/enable/means.hpp"

#include "base/child.hpp"
#include "base/hostlist.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace restart::enable {
namespace {

using namespace std::chrono_literals;
using base::Code;
using base::Error;
using base::Expected;

constexpr base::Duration service_patience = 3min; // slurmctld saves what it has before it ends
constexpr base::Duration hosts_patience = 30min;
constexpr base::Duration slurm_patience = 1min;
constexpr std::size_t most_shown = 2000; // bytes of a program's output

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace

Expected<void> Means::run(std::vector<std::string> words, base::Duration patience) const {
    const auto line = fmt::format("{}", fmt::join(words, " "));
    const auto ended = base::run_to_end(std::move(words), patience);
    if (!ended) return ended.error();
    if (ended->status == 0) return {};
    auto said = ended->output.substr(0, most_shown);
    while (!said.empty() && said.back() == '\n')
        said.pop_back();
    return Error{Code::unavailable, fmt::format("{}: ended with status {}{}{}", line, ended->status,
                                                said.empty() ? "" : ":\n", said)};
}

Expected<void> Means::serve(const char* verb) const {
    return run(joined(words_.service, {verb, words_.unit}), service_patience);
}
Expected<void> Means::stop_controller() const {
    return serve("stop");
}
Expected<void> Means::start_controller() const {
    return serve("start");
}

Expected<void> Means::reload_restartd() const {
    return run(joined(words_.service, {"reload", "restartd"}), service_patience);
}

bool Means::controller_failed() const {
    const auto told = base::run_to_end(joined(words_.service, {"is-active", words_.unit}), slurm_patience);
    return told && (told->output.starts_with("failed") || told->output.starts_with("inactive"));
}

Expected<void> Means::run_on(const std::vector<std::string>& hosts, std::vector<std::string> command) const {
    if (hosts.empty()) return {};
    return run(joined(joined(words_.run_on_hosts, {base::fold_hostlist(hosts)}), command), hosts_patience);
}

Expected<void> Means::copy_to(const std::vector<std::string>& hosts,
                              const std::vector<std::string>& files) const {
    if (hosts.empty() || files.empty()) return {};
    return run(joined(joined(words_.copy_to_hosts, {base::fold_hostlist(hosts)}), files), hosts_patience);
}

Expected<void> Means::drain(const std::vector<std::string>& hosts, const std::string& reason) const {
    if (hosts.empty()) return {};
    return run(
        {"scontrol", "update", "nodename=" + base::fold_hostlist(hosts), "state=drain", "reason=" + reason},
        slurm_patience);
}

Expected<void> Means::resume(const std::vector<std::string>& hosts) const {
    if (hosts.empty()) return {};
    return run({"scontrol", "update", "nodename=" + base::fold_hostlist(hosts), "state=resume"},
               slurm_patience);
}

} // namespace restart::enable
