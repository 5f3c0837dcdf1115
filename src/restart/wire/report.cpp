#include "restart/wire/report.hpp"

#include "base/hostlist.hpp"
#include "restart/wire/report_fields.hpp"
#include "restart/wire/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace restart {
namespace {

using base::Code;
using base::Error;
using base::Expected;

template <class Allowed> bool made_of(std::string_view text, Allowed allowed) {
    return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}
bool is_alnum(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Names of hosts go into requests to the resource manager and into its host lists.
bool is_host(std::string_view name) {
    return made_of(name, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}
// Rules, components and devices go into drain reasons.
bool is_name(std::string_view name) {
    return made_of(
        name, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.' || c == ':' || c == '/'; });
}

// A name or an address of either kind, to which an agent connects.
bool is_address(std::string_view text) {
    return made_of(
        text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.' || c == ':' || c == '%'; });
}

// As base::fold_hostlist writes a list.
bool is_host_list(std::string_view list) {
    return std::all_of(list.begin(), list.end(), [](char c) {
        return is_alnum(c) || c == '-' || c == '_' || c == '.' || c == ',' || c == '[' || c == ']';
    });
}

Error wrong(std::string field, std::string_view what) {
    return {Code::input, fmt::format("{}: {}", field, what)};
}

Expected<void> check(const Report& report) {
    if (!is_host(report.host)) return wrong("host", "must be a host's name: letters, digits, '-', '_', '.'");
    for (std::size_t i = 0; i < report.findings.size(); ++i) {
        const auto& finding = report.findings[i];
        if (!is_name(finding.rule))
            return wrong(fmt::format("findings[{}].rule", i), "must be a rule's name");
        if (!is_name(finding.component))
            return wrong(fmt::format("findings[{}].component", i), "must be a component's name");
    }
    for (std::size_t i = 0; i < report.sights.size(); ++i)
        if (!is_host(report.sights[i].host))
            return wrong(fmt::format("sights[{}].host", i), "must be a host's name");
    if (report.pace) {
        if (auto sound = check(*report.pace); !sound) return sound;
        for (const auto& port : report.pace->ports)
            if (!is_name(port.port)) return wrong("pace.ports.port", "must be a component's name");
    }
    for (std::size_t i = 0; i < report.jobs.size(); ++i) {
        if (const auto& word = report.jobs[i].nccl) {
            for (const auto& trouble : word->troubles)
                if (trouble.size() > longest_nccl_trouble)
                    return wrong(fmt::format("jobs[{}].nccl.troubles", i),
                                 fmt::format("one is longer than {} bytes", longest_nccl_trouble));
            for (const auto& sign : word->here)
                if (sign.gpu < -1 || sign.gpu > 1'023)
                    return wrong(fmt::format("jobs[{}].nccl.here.gpu", i), "is not between -1 and 1023");
        }
        if (const auto& fault = report.jobs[i].fault; fault && !is_name(fault->gpu))
            return wrong(fmt::format("jobs[{}].fault.gpu", i), "must be a component's name");
        for (const auto& rank : report.jobs[i].ranks)
            if (auto sound = check(rank); !sound)
                return std::move(sound).error().within(fmt::format("jobs[{}].ranks", i));
        if (const auto& preflight = report.jobs[i].preflight)
            if (auto sound = check(*preflight); !sound)
                return std::move(sound).error().within(fmt::format("jobs[{}].preflight", i));
        if (const auto& run = report.jobs[i].run)
            if (auto sound = check(*run); !sound)
                return std::move(sound).error().within(fmt::format("jobs[{}].run", i));
        const auto& ckpt = report.jobs[i].ckpt;
        if (!ckpt) continue;
        if (!ckpt->path.starts_with('/'))
            return wrong(fmt::format("jobs[{}].ckpt.path", i), "must be absolute");
        if (ckpt->cost_s < 0 || ckpt->cost_s > 1e6)
            return wrong(fmt::format("jobs[{}].ckpt.cost_s", i), "is not between 0 and 1000000 seconds");
        if (ckpt->safe_s < 0 || ckpt->safe_s > 1e6)
            return wrong(fmt::format("jobs[{}].ckpt.safe_s", i), "is not between 0 and 1000000 seconds");
    }
    return {};
}

// A link may affect all rails of a pod; a list with more names is not one of ours, and too long to be written
// out for each finding.
constexpr std::size_t most_hosts_behind = 4'096;

Expected<void> check(const LinkFinding& finding, const std::string& where) {
    if (!is_name(finding.rule)) return wrong(where + ".rule", "must be a rule's name");
    if (finding.severity > Severity::warn)
        return wrong(where + ".severity", "must be info or warn: nothing of a link moves a job");
    if (!is_host_list(finding.hosts)) return wrong(where + ".hosts", "must be a list of hosts");
    const auto hosts = base::expand_hostlist(finding.hosts);
    if (!hosts) return base::Error(hosts.error()).within(where + ".hosts");
    if (hosts->size() > most_hosts_behind)
        return wrong(where + ".hosts", fmt::format("names more than {} hosts", most_hosts_behind));
    return {};
}

Expected<void> check(const FabricReport& report) {
    if (report.findings)
        for (std::size_t i = 0; i < report.findings->size(); ++i)
            if (auto sound = check((*report.findings)[i], fmt::format("findings[{}]", i)); !sound)
                return sound;
    if (const auto& read = report.counters) {
        if (read->answered > read->ports) return wrong("counters.answered", "is more than ports");
        if (!(read->took_s >= 0 && read->took_s <= 86'400))
            return wrong("counters.took_s", "is not between 0 and 86400 seconds");
    }
    return {};
}

} // namespace

Expected<void> check(const JobRun& run) {
    if (run.hosts.empty() || !is_host_list(run.hosts)) return wrong("hosts", "must be a list of hosts");
    if (!is_host_list(run.spares)) return wrong("spares", "must be a list of hosts");
    return {};
}
Expected<void> check(const RunOrder& order) {
    if (order.hosts.empty() || !is_host_list(order.hosts)) return wrong("hosts", "must be a list of hosts");
    return {};
}

Expected<void> check(const Preflight& preflight) {
    for (const auto& host : preflight.without)
        if (!is_host(host) || host.size() > 64) return wrong("without", "must be names of hosts");
    for (const auto& word : preflight.words)
        if (!word.host.empty() && !is_host(word.host)) return wrong("words.host", "must be a host's name");
    return {};
}

Expected<void> check(const Witness& witness) {
    if (!is_host(witness.host)) return wrong("host", "must be a host's name");
    if (!is_address(witness.address)) return wrong("address", "must be a name or an address");
    if (witness.port == 0 || witness.port > 65'535) return wrong("port", "is not between 1 and 65535");
    return {};
}

Expected<void> check(const LookRequest& look) {
    return check(Witness{look.host, look.address, look.port});
}

std::string_view to_string(Severity severity) {
    return codec::Names<Severity>::names.at(static_cast<std::size_t>(severity));
}

Expected<Report> Report::from_json(std::string_view body) {
    auto report = codec::read_versioned<Report>(body, "this report");
    if (report)
        if (auto sound = check(*report); !sound) return std::move(sound).error();
    return report;
}
std::string Report::to_json() const {
    return codec::write_versioned(*this);
}

Expected<Reply> Reply::from_json(std::string_view body) {
    auto reply = codec::read_versioned<Reply>(body, "this reply");
    if (!reply) return reply;
    for (std::size_t i = 0; i < reply->witnesses.size(); ++i)
        if (auto sound = check(reply->witnesses[i]); !sound)
            return std::move(sound).error().within(fmt::format("witnesses[{}]", i));
    for (std::size_t i = 0; i < reply->looks.size(); ++i) {
        if (auto sound = check(reply->looks[i]); !sound)
            return std::move(sound).error().within(fmt::format("looks[{}]", i));
    }
    for (std::size_t i = 0; i < reply->jobs.size(); ++i) {
        if (!(reply->jobs[i].interval_s > 0))
            return wrong(fmt::format("jobs[{}].interval_s", i), "must be above 0");
        if (const auto& order = reply->jobs[i].order)
            if (auto sound = check(*order); !sound)
                return std::move(sound).error().within(fmt::format("jobs[{}].order", i));
    }
    return reply;
}
std::string Reply::to_json() const {
    return codec::write_versioned(*this);
}

std::string name_of(const LinkFinding& finding) {
    const auto end = [](const std::string& device, const std::string& port) {
        const bool number = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
        return fmt::format("{}{}{}", device, number ? " port " : " ", port);
    };
    const auto a = end(finding.a, finding.a_port);
    return finding.b.empty() ? a : fmt::format("{} - {}", a, end(finding.b, finding.b_port));
}

Expected<FabricReport> FabricReport::from_json(std::string_view body) {
    auto report = codec::read_versioned<FabricReport>(body, "this fabric report");
    if (report)
        if (auto sound = check(*report); !sound) return std::move(sound).error();
    if (report && !(report->age_s >= 0 && report->age_s <= 86'400))
        return wrong("age_s", "is not between 0 and 86400 seconds");
    if (report)
        for (const auto& [host, links] : report->hosts) {
            if (!is_host(host))
                return wrong("hosts", "a key must be a host's name: letters, digits, '-', '_', '.'");
            if (links.links_up > links.links_total)
                return wrong(fmt::format("hosts.{}.links_up", host), "is more than links_total");
        }
    return report;
}
std::string FabricReport::to_json() const {
    return codec::write_versioned(*this);
}

} // namespace restart
