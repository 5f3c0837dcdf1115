#include "restart/ctl/doctor/gather.hpp"

#include "base/child.hpp"
#include "restart/ctl/doctor/lsf.hpp"
#include "restart/ctl/doctor/plugins.hpp"
#include "restart/wire/http_client.hpp"
#include "restart/wire/munge_auth.hpp"
#include "restart/wire/operator.hpp"
#include "restart/wire/slurm_user.hpp"
#include "topo/fabric_json.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <linux/magic.h>
#include <set>
#include <sstream>
#include <sys/vfs.h>

namespace restart::doctor {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr base::Duration slurm_patience =
    15s; // asking a slurmctld that is away takes ten, and its backup is asked too
constexpr base::Duration restartd_within = 10s;
constexpr const char* usual_plugstack = "/etc/slurm/plugstack.conf";
constexpr const char* given_plugstack =
    "/run/slurm/conf/plugstack.conf"; // by slurmctld, to a configless host

void read_config(const Ask& ask, Facts& into) {
    auto conf = base::load_conf(ask.config);
    if (conf)
        into.conf = *std::move(conf);
    else
        into.config_error = conf.error().text;
    into.config_source = base::source_of(into.conf);
    if (!ask.url.empty()) into.conf.restartd.url = {ask.url};
    if (into.conf.restartd.user.empty() && !into.is_lsf()) into.conf.restartd.user = slurm_user();
}

void try_munge(Facts& into) {
    const MungeAuth auth(into.conf.munge.socket);
    const auto made = auth.sign("GET", "/", "");
    if (!made) {
        into.munge_error = made.error().text;
        return;
    }
    if (const auto opened = auth.open(*made); !opened) into.munge_error = opened.error().text;
}

void ask_slurm(Facts& into) {
    const auto config = base::output_of({"scontrol", "show", "config"}, slurm_patience);
    if (!config) {
        into.slurm_error = config.error().code == base::Code::not_found
                               ? "there is no scontrol on PATH: Slurm is not installed here"
                               : fmt::format("slurmctld cannot be asked: {}", config.error().text);
    } else {
        into.slurm = parse_config(*config);
        const auto nodes = base::output_of({"sinfo", "-h", "-N", "-o", "%N %v"}, slurm_patience, {"SINFO_"});
        std::istringstream lines(nodes ? *nodes : std::string());
        std::map<std::string, std::set<std::string>> releases; // a node is listed there once per partition
        for (std::string name, release; lines >> name >> release;) {
            into.nodes.push_back(name);
            if (std::isdigit(static_cast<unsigned char>(release.front())) != 0)
                releases[release].insert(name);
        }
        for (const auto& [release, names] : releases)
            into.slurmd_releases[release].assign(names.begin(), names.end());
        std::sort(into.nodes.begin(), into.nodes.end());
        into.nodes.erase(std::unique(into.nodes.begin(), into.nodes.end()), into.nodes.end());
    }
    if (const auto version = base::output_of({"scontrol", "--version"}, slurm_patience))
        into.local_release = release_in(*version);
    if (const auto found = into.slurm.find("PluginDir"); found != into.slurm.end())
        into.plugins = plugins_in(found->second);
    std::error_code ignored;
    for (const std::string& plugstack : {named_plugstack(into.slurm), std::string(given_plugstack)}) {
        if (!fs::exists(plugstack, ignored)) continue;
        into.plugstack = plugstack;
        into.spank = spank_lines(plugstack);
        return;
    }
}

void read_fabric(Facts& into) {
    const fs::path path = into.conf.placement.fabric;
    const auto fabric = topo::read_fabric(path);
    if (!fabric) {
        into.fabric_error = fabric.error().text;
        return;
    }
    for (const auto& host : fabric->hosts)
        into.fabric.hosts.push_back(host.name);
    std::sort(into.fabric.hosts.begin(), into.fabric.hosts.end());
    std::error_code failed;
    const auto written = fs::last_write_time(path, failed);
    if (!failed)
        into.fabric.age =
            std::chrono::duration_cast<base::Duration>(fs::file_time_type::clock::now() - written);
}

std::optional<Storage> storage_of(const std::string& path) {
    struct statfs found {};
    if (::statfs(path.c_str(), &found) != 0) return {};
    Storage storage;
    storage.in_memory = found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC;
    storage.free = std::uint64_t{found.f_bavail} * static_cast<std::uint64_t>(found.f_bsize);
    storage.total = std::uint64_t{found.f_blocks} * static_cast<std::uint64_t>(found.f_bsize);
    return storage;
}

// At each address except the primary's: whether a standby is there.
void ask_standbys(const std::string& primary, Facts& into) {
    for (const auto& url : into.conf.restartd.url) {
        auto client = HttpClient::make(url);
        if (!client || client->url() == primary) continue;
        const auto answer = client->request("GET", "/v1/status", "", restartd_within);
        const auto refused = answer ? Refused::from_json(answer->body) : answer.error();
        if (!answer)
            into.other_restartds.push_back({url, OtherRestartd::Role::away, answer.error().text});
        else if (answer->status == 503 && refused && refused->code == "standby")
            into.other_restartds.push_back({url, OtherRestartd::Role::standby, refused->text});
        else
            into.other_restartds.push_back({url, OtherRestartd::Role::acting, ""});
    }
}

void ask_restartd(Facts& into) {
    const auto& urls = into.conf.restartd.url;
    auto client =
        HttpClient::make(urls, into.munge_error.empty()
                                   ? std::optional(MungeAuth(into.conf.munge.socket, into.conf.restartd.user))
                                   : std::nullopt);
    if (!client) {
        into.restartd_error = client.error().text;
        return;
    }
    const auto sent = base::now();
    const auto answer = client->request("GET", "/v1/status", "", restartd_within);
    const auto got = base::now();
    if (!answer) {
        into.restartd_error = answer.error().text;
        into.restartd_impostor = answer.error().code == base::Code::denied;
        return;
    }
    if (answer->status != 200) {
        const auto refused = Refused::from_json(answer->body);
        into.restartd_error = fmt::format("{}: refused with {}: {}", client->url(), answer->status,
                                          refused ? refused->text : "it gives no reason");
        into.restartd_impostor =
            answer->status == 401 && into.restartd_error.find("[restartd] user") != std::string::npos;
        return;
    }
    auto status = Status::from_json(answer->body);
    if (!status) {
        into.restartd_error = fmt::format("{}: {}", client->url(), status.error().text);
        return;
    }
    // Relative to the middle of the request: half of its time is the way there.
    into.clock_ahead = std::chrono::duration_cast<base::Duration>(status->time - (sent + (got - sent) / 2));
    into.status = *std::move(status);
    ask_standbys(client->url(), into);
    into.journal = storage_of(into.status->journal.file);
}

} // namespace

std::string named_plugstack(const std::map<std::string, std::string>& slurm) {
    const auto named = slurm.find("PlugStackConfig");
    return named == slurm.end() || named->second == "(null)" ? usual_plugstack : named->second;
}

std::map<std::string, std::string> parse_config(std::string_view text) {
    std::map<std::string, std::string> settings;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        const auto equals = line.find(" = ");
        if (equals == std::string_view::npos) continue;
        const auto key = line.substr(0, line.find_last_not_of(' ', equals) + 1);
        if (!key.empty()) settings.emplace(key, line.substr(equals + 3));
    }
    return settings;
}

std::string release_in(std::string_view text) {
    // "slurm 22.05.8", or "slurm-wlm 24.11.5"
    const auto space = text.find(' ');
    if (space == std::string_view::npos) return {};
    const auto release = text.substr(space + 1);
    return std::string(release.substr(0, release.find_first_not_of("0123456789.")));
}

Facts gather(const Ask& ask) {
    Facts facts;
    read_config(ask, facts);
    try_munge(facts);
    if (facts.is_lsf())
        ask_lsf(facts);
    else
        ask_slurm(facts);
    read_fabric(facts);
    ask_restartd(facts);
    return facts;
}

} // namespace restart::doctor
