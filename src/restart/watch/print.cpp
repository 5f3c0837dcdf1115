#include "restart/watch/print.hpp"

#include "base/json.hpp"
#include "base/table.hpp"
#include "restart/watch/rules/rule_book.hpp"
#include "restart/watch/rules/table.hpp"
#include "restart/wire/report_fields.hpp"

#include <fmt/format.h>

namespace restart {
namespace {

namespace json = boost::json;

template <class T> json::value or_null(const std::optional<T>& held) {
    return held ? json::value(*held) : json::value(nullptr);
}

template <class T> std::string or_dash(const std::optional<T>& held) {
    return held ? fmt::format("{}", *held) : "-";
}

// "hw_slowdown+hw_power_brake" for the bits that slow a GPU, the mask for the rest.
std::string reason_words(std::uint64_t reasons) {
    std::string words;
    for (const auto& rule : shipped_rules())
        if (rule.test == Test::bit && (reasons & static_cast<std::uint64_t>(rule.value)) != 0)
            words += fmt::format("{}{}", words.empty() ? "" : "+",
                                 rule.finding().substr(rule.finding().rfind('.') + 1));
    return words.empty() ? fmt::format("0x{:x}", reasons) : fmt::format("0x{:x} {}", reasons, words);
}

// Counters of rules that are not zero: "link_downed=3".
std::string judged_text(const PortSample& port) {
    std::string text;
    for (const auto& name : RuleBook::counters({}))
        if (const auto at = port.counters.find(name); at != port.counters.end() && at->second > 0)
            text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, at->second);
    return text;
}

json::object link_json(const PortSample& port) {
    json::object counters;
    for (const auto& [name, value] : port.counters)
        counters[name] = value;
    return {{"device", port.device},       {"port", port.port},
            {"state", port.state},         {"phys_state", port.phys_state},
            {"rate_gbps", port.rate_gbps}, {"counters", std::move(counters)}};
}

json::object gpu_json(const GpuSample& gpu) {
    return {{"index", gpu.index},
            {"pci", gpu.pci},
            {"lost", gpu.lost},
            {"silent", gpu.silent},
            {"reasons", or_null(gpu.reasons)},
            {"ecc_corrected", or_null(gpu.ecc_corrected)},
            {"ecc_uncorrected", or_null(gpu.ecc_uncorrected)},
            {"remap_pending", or_null(gpu.remap_pending)},
            {"remap_failed", or_null(gpu.remap_failed)},
            {"pcie_generation", or_null(gpu.pcie_generation)},
            {"pcie_generation_max", or_null(gpu.pcie_generation_max)},
            {"pcie_width", or_null(gpu.pcie_width)},
            {"pcie_width_max", or_null(gpu.pcie_width_max)},
            {"pcie_replays", or_null(gpu.pcie_replays)},
            {"nvlinks_active", or_null(gpu.nvlinks_active)},
            {"nvlink_crc", or_null(gpu.nvlink_crc)},
            {"nvlink_replays", or_null(gpu.nvlink_replays)},
            {"nvlink_recoveries", or_null(gpu.nvlink_recoveries)},
            {"nvlink_rcv_errors", or_null(gpu.nvlink_rcv_errors)},
            {"power_violation_ms", or_null(gpu.power_violation_ms)},
            {"thermal_violation_ms", or_null(gpu.thermal_violation_ms)},
            {"power_brake_ms", or_null(gpu.power_brake_ms)},
            {"hw_thermal_ms", or_null(gpu.hw_thermal_ms)},
            {"sw_thermal_ms", or_null(gpu.sw_thermal_ms)},
            {"recovery_action", or_null(gpu.recovery_action)},
            {"fabric_state", or_null(gpu.fabric_state)},
            {"fabric_status", or_null(gpu.fabric_status)}};
}

} // namespace

std::string print_text(const std::string& host, const Reading& reading,
                       const std::vector<Finding>& findings) {
    std::string text = fmt::format("host {}\n", host);
    if (reading.sample.ib && !reading.sample.ib->ports.empty()) {
        base::Table links({"LINK", "STATE", "PHYS", "GB/S", "COUNTERS"});
        links.align(3, base::Table::Align::right);
        for (const auto& port : reading.sample.ib->ports)
            links.add({fmt::format("{}:{}", port.device, port.port), port.state, port.phys_state,
                       fmt::format("{}", port.rate_gbps), judged_text(port)});
        text += "\n" + links.print();
    }
    if (reading.sample.gpus && !reading.sample.gpus->empty()) {
        base::Table gpus({"GPU", "PCI", "STATE", "REASONS", "ECC", "PCIE"});
        for (const auto& gpu : *reading.sample.gpus)
            gpus.add({fmt::format("gpu{}", gpu.index), gpu.pci,
                      gpu.lost             ? "lost"
                      : gpu.silent.empty() ? "ok"
                                           : "silent",
                      gpu.reasons ? reason_words(*gpu.reasons) : "-", or_dash(gpu.ecc_uncorrected),
                      fmt::format("gen{} x{}", or_dash(gpu.pcie_generation), or_dash(gpu.pcie_width))});
        text += "\n" + gpus.print();
    }
    for (const auto& sentence : reading.not_watching)
        text += fmt::format("\nnot watching {}", sentence);
    if (!reading.not_watching.empty()) text += "\n";
    if (!findings.empty()) {
        base::Table table({"FINDING", "ON", "SEVERITY", "EVIDENCE"});
        for (const auto& f : findings)
            table.add({f.rule, f.component, std::string(to_string(f.severity)), f.evidence});
        text += "\n" + table.print();
    }
    return text;
}

std::string print_json(const std::string& host, const Reading& reading,
                       const std::vector<Finding>& findings) {
    json::array links, gpus, found, sentences;
    if (reading.sample.ib)
        for (const auto& port : reading.sample.ib->ports)
            links.push_back(link_json(port));
    if (reading.sample.gpus)
        for (const auto& gpu : *reading.sample.gpus)
            gpus.push_back(gpu_json(gpu));
    for (const auto& f : findings)
        found.push_back(codec::Writer::value(f));
    json::object watching;
    for (const auto& [source, watched] : reading.watching)
        watching[source] = watched;
    for (const auto& sentence : reading.not_watching)
        sentences.push_back(json::string(sentence));
    return base::to_pretty(json::object{{"host", host},
                                        {"links", std::move(links)},
                                        {"gpus", std::move(gpus)},
                                        {"findings", std::move(found)},
                                        {"watching", std::move(watching)},
                                        {"not_watching", std::move(sentences)}});
}

} // namespace restart
