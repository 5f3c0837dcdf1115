#include "restart/ctl/enable/slurmds.hpp"

#include "base/child.hpp"
#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

namespace restart::enable {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Error;
using base::Expected;

constexpr std::size_t most_at_once = 64;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

Expected<std::vector<std::string>> names(const std::string& list, std::size_t count, const char* key) {
    auto expanded = base::expand_hostlist(list);
    if (!expanded) return Error(expanded.error()).within(fmt::format("{}={}", key, list));
    if (expanded->size() == 1 && count > 1) return std::vector<std::string>(count, expanded->front());
    if (expanded->size() != count)
        return Error{Code::input,
                     fmt::format("{}={}: {} names for {} nodes", key, list, expanded->size(), count)};
    return expanded;
}

Expected<void> add_hosts(const LineSettings& line, Host defaults, std::vector<Host>& into) {
    std::string list, addresses, hostnames, ports, state;
    for (const auto& [key, value] : line) {
        const auto word = lower(key);
        if (word == "nodename") list = value;
        if (word == "nodeaddr") addresses = value;
        if (word == "nodehostname") hostnames = value;
        if (word == "port") ports = value;
        if (word == "state") state = lower(value);
    }
    if (list == "DEFAULT" || state.starts_with("cloud") || state.starts_with("future")) return {};
    const auto nodes = base::expand_hostlist(list);
    if (!nodes) return Error(nodes.error()).within("NodeName=" + list);
    if (addresses.empty()) addresses = hostnames.empty() ? list : hostnames;
    const auto where = names(addresses, nodes->size(), "NodeAddr");
    if (!where) return where.error();
    std::vector<std::string> at(nodes->size(), std::to_string(defaults.port));
    if (!ports.empty()) {
        auto given = names(ports, nodes->size(), "Port");
        if (!given) return given.error();
        at = *std::move(given);
    }
    for (std::size_t i = 0; i < nodes->size(); ++i) {
        auto host = defaults;
        host.name = (*nodes)[i];
        host.address = (*where)[i];
        if (const auto port = base::parse_count(at[i])) host.port = static_cast<std::uint16_t>(*port);
        into.push_back(std::move(host));
    }
    return {};
}

// What a client needs to reach one slurmd: that of the node that it believes to run on.
std::string client_conf(const SlurmText& conf, const std::string& this_host, const Host& host) {
    std::string text = fmt::format("ClusterName={}\nSlurmctldHost={}\nSlurmdPort={}\n"
                                   "NodeName={} NodeAddr={} Port={}\nPartitionName=one Nodes=ALL\n",
                                   conf.value("ClusterName").value_or("one"), this_host, host.port, this_host,
                                   host.address, host.port);
    for (const char* key : {"AuthType", "AuthInfo", "PluginDir", "SlurmUser", "SlurmdUser", "TCPTimeout"})
        if (const auto value = conf.value(key)) text += fmt::format("{}=\"{}\"\n", key, *value);
    return text;
}

// A directory of ours with a file for each thread, removed with its owner.
class Scratch {
public:
    static Expected<Scratch> make() {
        std::string name = (fs::temp_directory_path() / "railctl-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) return base::system_error(name, errno);
        return Scratch(name);
    }
    Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(Scratch&&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }

private:
    explicit Scratch(fs::path path) : path_(std::move(path)) {}
    fs::path path_;
};

void ask(const fs::path& file, const SlurmText& conf, const std::string& this_host, base::Duration patience,
         Host& host) {
    host.answers = false;
    host.since.reset();
    if (!base::write_file(file, client_conf(conf, this_host, host), 0600)) return;
    const auto told = base::run_to_end({"scontrol", "show", "slurmd"}, patience,
                                       {"SLURM_CONF=" + file.string(), "SLURMD_NODENAME=" + this_host});
    if (!told || told->status != 0) return;
    host.since = boot_time(told->output);
    host.answers = host.since.has_value();
}

} // namespace

Expected<std::vector<Host>> hosts_of(const std::vector<TextFile>& conf) {
    std::vector<Host> hosts;
    Host defaults;
    const SlurmText text(conf);
    if (const auto port = text.value("SlurmdPort"))
        if (const auto number = base::parse_count(*port)) defaults.port = static_cast<std::uint16_t>(*number);
    for (const auto& line : lines_of(conf, "NodeName"))
        if (auto done = add_hosts(line, defaults, hosts); !done) return std::move(done).error();
    return hosts;
}

std::optional<base::Time> boot_time(std::string_view text) {
    const auto at = text.find("Boot time");
    const auto equals = at == std::string_view::npos ? at : text.find("= ", at);
    if (equals == std::string_view::npos) return {};
    std::tm broken{};
    const std::string value(text.substr(equals + 2, 19));
    if (::strptime(value.c_str(), "%Y-%m-%dT%H:%M:%S", &broken) == nullptr) return {};
    broken.tm_isdst = -1;
    const auto seconds = ::mktime(&broken);
    if (seconds == -1) return {};
    return base::Time{std::chrono::seconds(seconds)};
}

Expected<void> ask_slurmds(const std::vector<TextFile>& conf, const std::string& this_host,
                           base::Duration patience, std::vector<Host>& hosts) {
    auto scratch = Scratch::make();
    if (!scratch) return scratch.error();
    const SlurmText text(conf);
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(most_at_once, hosts.size()); ++i)
        threads.emplace_back([&, file = scratch->path() / fmt::format("{}.conf", i)] {
            for (auto at = next++; at < hosts.size(); at = next++)
                ask(file, text, this_host, patience, hosts[at]);
        });
    for (auto& thread : threads)
        thread.join();
    return {};
}

} // namespace restart::enable
