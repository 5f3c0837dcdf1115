// Fabrics for tests: made from words, and what is found in them.
#pragma once

#include "topo/check/check.hpp"
#include "topo/derive.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

inline topo::Fabric made(const std::string& spec) {
    const auto parsed = topo::parse_synth(spec);
    if (!parsed) FAIL(parsed.error().text);
    auto fabric = topo::synthesise(*parsed);
    if (!fabric) FAIL(fabric.error().text);
    return std::move(*fabric);
}

// The codes of what is found, sorted.
inline std::vector<std::string> codes(const topo::Fabric& fabric) {
    std::vector<std::string> list;
    for (const auto& finding : topo::check(fabric))
        list.push_back(finding.code);
    std::sort(list.begin(), list.end());
    return list;
}

// The one thing that is found.
inline topo::Finding only_finding(const topo::Fabric& fabric) {
    const auto findings = topo::check(fabric);
    std::string all;
    for (const auto& finding : findings)
        all += finding.code + " " + finding.text + "\n";
    if (findings.size() != 1) FAIL("not one finding:\n" << all);
    return findings.front();
}

// The one thing that is found beside information.
inline topo::Finding only_fault(const topo::Fabric& fabric) {
    auto findings = topo::check(fabric);
    std::erase_if(findings, [](const topo::Finding& f) { return f.severity == topo::Severity::info; });
    std::string all;
    for (const auto& finding : findings)
        all += finding.code + " " + finding.text + "\n";
    if (findings.size() != 1) FAIL("not one fault:\n" << all);
    return findings.front();
}

// A host that is not there any more: its cables and itself.
inline void remove_host(topo::Fabric& fabric, std::string_view name) {
    const auto gone = static_cast<int>(fabric.find_host(name).value());
    std::erase_if(fabric.links,
                  [&](const topo::Link& link) { return link.a.host == gone || link.b.host == gone; });
    fabric.hosts.erase(fabric.hosts.begin() + gone);
    for (auto& link : fabric.links)
        for (auto* end : {&link.a, &link.b})
            if (end->host > gone) --end->host;
    topo::derive(fabric);
}

// A switch that is not there any more: its cables and itself.
inline void remove_switch(topo::Fabric& fabric, std::string_view name) {
    const auto found = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                    [&](const auto& one) { return one.name == name; });
    if (found == fabric.switches.end()) FAIL("no " << name);
    const auto gone = static_cast<int>(found - fabric.switches.begin());
    std::erase_if(fabric.links,
                  [&](const topo::Link& link) { return link.a.switch_ == gone || link.b.switch_ == gone; });
    fabric.switches.erase(found);
    for (auto& link : fabric.links)
        for (auto* end : {&link.a, &link.b})
            if (end->switch_ > gone) --end->switch_;
    topo::derive(fabric);
}

// An HCA that is not seen any more, with its cables.
inline void remove_hca(topo::Fabric& fabric, std::string_view name, std::string_view device) {
    const auto h = fabric.find_host(name).value();
    auto& hcas = fabric.hosts[h].hcas;
    const auto gone =
        std::find_if(hcas.begin(), hcas.end(), [&](const auto& hca) { return hca.device == device; });
    const auto index = static_cast<int>(gone - hcas.begin());
    const auto of = [&](const topo::End& end) { return end.host == static_cast<int>(h) && end.hca == index; };
    std::erase_if(fabric.links, [&](const topo::Link& link) { return of(link.a) || of(link.b); });
    hcas.erase(gone);
    for (auto& link : fabric.links)
        for (auto* end : {&link.a, &link.b})
            if (end->host == static_cast<int>(h) && end->hca > index) --end->hca;
    topo::derive(fabric);
}
