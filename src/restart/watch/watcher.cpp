#include "restart/watch/watcher.hpp"

#include <algorithm>

namespace restart {
namespace {

// Bounds of a report (core/report.hpp).
constexpr std::size_t most_links = 64;
constexpr std::size_t most_gpus = 64;
constexpr std::size_t most_sentences = 32;

LinkReport link_report(const PortSample& port) {
    return {port.device, port.port, port.state, port.phys_state, port.rate_gbps, port.counters};
}

GpuReport gpu_report(const GpuSample& gpu) {
    GpuReport report;
    report.index = gpu.index;
    report.pci = gpu.pci;
    report.reasons = gpu.reasons;
    report.lost = gpu.lost;
    report.ecc_uncorrected = gpu.ecc_uncorrected.value_or(0);
    report.remap_pending = gpu.remap_pending.value_or(false);
    report.remap_failed = gpu.remap_failed.value_or(false);
    return report;
}

} // namespace

void Watcher::add_links(Report& report, const IbSample& ib) {
    std::map<PortName, std::string> states;
    for (const auto& port : ib.ports)
        states[{port.device, port.port}] = port.state + "/" + port.phys_state;
    const bool changed = states != states_;
    if (!changed && !(full_due_ && ib.full)) return;
    if (ib.full) full_due_ = false;
    states_ = std::move(states);
    auto& links = report.links.emplace();
    for (const auto& port : ib.ports)
        if (links.size() < most_links) links.push_back(link_report(port));
}

Transitions Watcher::compare(const Report& report) {
    Transitions changes;
    std::map<std::pair<std::string, std::string>, Finding> now;
    for (const auto& finding : report.findings) {
        const auto before = findings_.find({finding.rule, finding.component});
        if (before == findings_.end() || before->second.severity != finding.severity)
            changes.began.push_back(finding);
        now[{finding.rule, finding.component}] = finding;
    }
    for (const auto& [key, finding] : findings_)
        if (!now.contains(key)) changes.ended.push_back(finding);
    findings_ = std::move(now);

    for (const auto& [source, watching] : report.watching) {
        const auto before = watching_.find(source);
        if (before != watching_.end() && before->second == watching) continue;
        if (watching) {
            changes.watching_again.push_back(source);
            continue;
        }
        for (const auto& sentence : report.not_watching)
            if (sentence.starts_with(source + ":")) changes.not_watching.push_back(sentence);
    }
    watching_ = report.watching;
    return changes;
}

std::pair<Report, Transitions> Watcher::next(base::Time steady, base::Time wall) {
    auto reading = sources_.read(steady);
    Report report;
    report.host = host_;
    report.boot_id = boot_id_;
    report.seq = ++seq_;
    report.time = wall;
    report.watching = std::move(reading.watching);
    report.not_watching = std::move(reading.not_watching);
    if (report.not_watching.size() > most_sentences) report.not_watching.resize(most_sentences);
    if (seq_ % reports_a_full == 0) {
        full_due_ = true;
        sources_.ask_full();
    }
    if (reading.sample.ib) add_links(report, *reading.sample.ib);
    if (reading.sample.gpus)
        for (const auto& gpu : *reading.sample.gpus)
            if (report.gpus.size() < most_gpus) report.gpus.push_back(gpu_report(gpu));
    report.findings = judge_.judge(reading.sample);
    report.fabric = judge_.fabric();
    // The two clocks are read one after the other; only a step of the wall's moves what was said before.
    if (std::chrono::abs(wall - steady - wall_offset_) > std::chrono::milliseconds(100))
        wall_offset_ = wall - steady;
    for (auto& finding : report.findings)
        finding.since += wall_offset_;
    report.jobs = book_.entries();
    auto changes = compare(report);
    return {std::move(report), std::move(changes)};
}

} // namespace restart
