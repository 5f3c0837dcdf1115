#include "restart/watch/watcher.hpp"

#include "base/utf8.hpp"
#include "restart/watch/signal_table.hpp"
#include "restart/watch/xid_words.hpp"

#include <algorithm>

namespace restart {
namespace {

// The limit of a report (wire/report_fields.hpp).
constexpr std::size_t most_sentences = 32;

} // namespace

Transitions Watcher::compare(const Report& report, std::map<std::string, bool> watching) {
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

    for (const auto& [source, watched] : watching) {
        const auto before = watching_.find(source);
        if (before != watching_.end() && before->second == watched) continue;
        if (watched) {
            changes.watching_again.push_back(source);
            continue;
        }
        for (const auto& sentence : report.not_watching)
            if (sentence.starts_with(source + ":")) changes.not_watching.push_back(sentence);
    }
    watching_ = std::move(watching);
    return changes;
}

std::pair<Report, Transitions> Watcher::take(Reading reading, base::Time wall) {
    const auto steady = reading.sample.now;
    if (ucx_ != nullptr) reading.sample.ucx = ucx_->jobs();
    Report report;
    report.host = host_;
    report.boot_id = boot_id_;
    report.not_watching = std::move(reading.not_watching);
    if (report.not_watching.size() > most_sentences) report.not_watching.resize(most_sentences);
    report.findings = judge_.judge(reading.sample);
    report.fabric = judge_.fabric();
    report.port_names = judge_.port_names();
    report.slurmd = std::move(reading.slurmd);
    // The two clocks are read one after the other; only a step of the time of day changes times already
    // reported.
    if (std::chrono::abs(wall - steady - wall_offset_) > std::chrono::milliseconds(100))
        wall_offset_ = wall - steady;
    for (auto& finding : report.findings)
        finding.since += wall_offset_;
    if (meter_.look(reading.sample, wall)) marks_ = book_.end_window();
    report.pace = meter_.pace(marks_);
    for (const auto& event : reading.sample.xids)
        if (event.user && event.pid != 0 && is_programs(event.code))
            book_.put_fault(*event.user, event.job,
                            {judge_.component_of(event), event.code, event.pid,
                             base::printable(event.text, longest_fault)});
    report.jobs = book_.entries();
    not_watching_ = report.not_watching;
    LastLook look{{}, reading.watching, report.findings, {}};
    for (const auto& event : reading.sample.xids)
        look.xids.emplace_back(judge_.component_of(event), event.code);
    look.sample = std::move(reading.sample);
    last_ = std::make_shared<const LastLook>(std::move(look));
    auto changes = compare(report, std::move(reading.watching));
    return {std::move(report), std::move(changes)};
}

HostSignals Watcher::signals() {
    const auto now = last_ ? last_->sample.now : base::Time{};
    auto table = signal_table({host_, now, wall_offset_, watching_, not_watching_}, judge_.view(now));
    if (last_ && last_->sample.gpus)
        for (const auto& gpu : *last_->sample.gpus)
            if (!gpu.lost && gpu.silent.empty() && table.gpus.size() < most_paced_gpus)
                table.gpus.push_back(pace_of(gpu));
    return table;
}

} // namespace restart
