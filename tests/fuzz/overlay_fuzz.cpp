// What is laid over a picture: states, jobs and findings are read or refused with their place, and whatever
// was read is drawn as text that an XML reader takes.
#include "topo/draw/overlay.hpp"
#include "topo/draw/svg.hpp"
#include "topo/synth/synth.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto fabric = *topo::synthesise(*topo::parse_synth("units=2 hosts=2 rails=2"));
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    topo::Overlay overlay;
    if (const auto done = topo::add_states(overlay, fabric, text, "fuzz"); !done)
        if (!done.error().text.starts_with("fuzz:")) std::abort();
    if (overlay.hosts.size() != fabric.hosts.size()) std::abort();
    if (const auto done = topo::add_job(overlay, fabric, text); !done)
        if (!done.error().text.starts_with("--job ")) std::abort();
    auto findings = topo::parse_findings(text, "fuzz");
    if (findings)
        overlay.findings.insert(overlay.findings.end(), findings->begin(), findings->end());
    else if (!findings.error().text.starts_with("fuzz:"))
        std::abort();
    const auto svg = topo::draw_svg(fabric, overlay);
    if (!svg.ends_with("</svg>\n")) std::abort();
    for (const char c : svg)
        if ((c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7f') std::abort();
    return 0;
}
