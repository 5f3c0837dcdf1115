#include "topo/draw/svg.hpp"

#include "topo/derive.hpp"
#include "topo/draw/canvas.hpp"
#include "topo/draw/layout.hpp"
#include "topo/draw/palette.hpp"
#include "topo/draw/words.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <set>

TEST_CASE("text is escaped, and what XML forbids is replaced") {
    using topo::draw::escaped;
    CHECK(escaped("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;");
    CHECK(escaped("ä – 𝄞") == "ä – 𝄞");
    const std::string bad = "\xef\xbf\xbd";
    CHECK(escaped(std::string("\x00\x1b", 2)) == bad + bad);
    CHECK(escaped("a\xff"
                  "b") == "a" + bad + "b");
    CHECK(escaped("\xc0\xaf") == bad + bad);           // overlong
    CHECK(escaped("\xed\xa0\x80") == bad + bad + bad); // a surrogate
    CHECK(escaped("\xef\xbf\xbe") == bad + bad + bad); // U+FFFE
    CHECK(escaped("\xe2\x82") == bad + bad);           // cut short
}

TEST_CASE("names cannot break out of a picture") {
    auto fabric = *topo::synthesise(*topo::parse_synth("units=1 hosts=2 rails=1"));
    fabric.hosts[0].name = "<script>alert(1)</script>";
    fabric.switches[0].name = "leaf\"&\x01";
    fabric.source = "<!--";
    topo::Overlay overlay;
    overlay.jobs.push_back({"]]><a>", {0}});
    overlay.findings.push_back({"<b>", topo::Severity::error, {"n002"}, {}, {}, "</title><c/>"});
    const auto svg = topo::draw_svg(fabric, overlay);
    for (const auto* markup : {"<script", "<!--", "<a>", "<b>", "<c/>", "\x01"}) {
        CAPTURE(markup);
        CHECK(svg.find(markup) == std::string::npos);
    }
    CHECK(svg.find("&lt;script&gt;alert(1)") != std::string::npos);
}

TEST_CASE("a finding's sentence begins right of its code, however long that is") {
    const auto fabric = *topo::synthesise(*topo::parse_synth("units=1 hosts=2 rails=1"));
    topo::Overlay overlay;
    const std::string code = "gpu.throttle.hw_thermal_slowdown";
    overlay.findings.push_back({code, topo::Severity::error, {"n002"}, {}, {}, "too hot"});
    const auto svg = topo::draw_svg(fabric, overlay);
    const auto x_before = [&](std::string_view text) {
        const auto end = svg.find(">" + std::string(text) + "</text>");
        REQUIRE(end != std::string::npos);
        return std::stod(svg.substr(svg.rfind(" x=\"", end) + 4));
    };
    CHECK(x_before("too hot") > x_before(code) + topo::draw::text_width(code, 12));
}

TEST_CASE("a picture names each host, switch and link") {
    const auto fabric = *topo::synthesise(*topo::parse_synth("pods=2 units=2 hosts=4 rails=2"));
    const auto svg = topo::draw_svg(fabric, {});
    CHECK(svg == topo::draw_svg(fabric, {}));
    for (const auto& host : fabric.hosts) {
        CHECK(svg.find("<title>" + host.name + " · su") != std::string::npos);
        for (const auto& hca : host.hcas)
            CHECK(svg.find("<title>" + host.name + " " + hca.device + "/1 – leaf") != std::string::npos);
    }
    for (const auto& s : fabric.switches)
        CHECK(svg.find("<title>" + s.name + " · ") != std::string::npos);
    CHECK(topo::draw_svg({}, {}).ends_with("</svg>\n"));
}

TEST_CASE("jobs differ by letter, and up to 35 by their fill") {
    using topo::draw::Words;
    CHECK(Words::letter(0) == "A");
    CHECK(Words::letter(25) == "Z");
    CHECK(Words::letter(26) == "AA");
    CHECK(Words::letter(26 * 27) == "AAA");
    std::set<std::string> fills;
    for (std::size_t j = 0; j < 35; ++j)
        fills.insert(topo::draw::job_class(j));
    CHECK(fills.size() == 35);
    CHECK(topo::draw::job_class(35) == topo::draw::job_class(0));
}

namespace {

// What a switch's box and its title hold.
std::string group_of(const std::string& svg, const std::string& name) {
    const auto title = svg.find("<title>" + name + " · ");
    REQUIRE(title != std::string::npos);
    return svg.substr(title, svg.find("</g>", title) - title);
}

} // namespace

TEST_CASE("a marked switch keeps what sets it apart") {
    for (const auto* spec : {"units=2 hosts=8", "units=4 hosts=32", "pods=8 units=4 hosts=32"}) {
        CAPTURE(spec);
        const auto fabric = *topo::synthesise(*topo::parse_synth(spec));
        topo::Overlay overlay;
        std::string spine;
        for (const auto& one : fabric.switches)
            if (one.tier == 1) spine = one.name;
        overlay.findings.push_back({"x", topo::Severity::error, {"leaf-su1-r3"}, {}, {}, "slow"});
        overlay.findings.push_back({"y", topo::Severity::warning, {spine}, {}, {}, "slow"});
        const auto svg = topo::draw_svg(fabric, overlay);
        CHECK(group_of(svg, "leaf-su1-r3").find("3</text>") != std::string::npos);
        CHECK(group_of(svg, spine).find(spine.substr(spine.rfind('-') + 1) + "</text>") != std::string::npos);
    }
}

TEST_CASE("a faulty uplink is drawn in any picture whose switches have names") {
    for (const auto& [spec, port] :
         {std::pair("units=2 hosts=8", 9), std::pair("units=4 hosts=32", 33),
          std::pair("pods=2 units=4 hosts=32", 33), std::pair("pods=8 units=4 hosts=32", 33)}) {
        CAPTURE(spec);
        const auto fabric = *topo::synthesise(*topo::parse_synth(spec));
        const auto end = "leaf-su1-r3/" + std::to_string(port);
        topo::Overlay overlay;
        overlay.findings.push_back({"x", topo::Severity::error, {end}, {}, {}, "slow"});
        const auto svg = topo::draw_svg(fabric, overlay);
        const auto title = svg.find("<title>" + end + " – ");
        REQUIRE(title != std::string::npos);
        CHECK(svg.rfind("up-error", title) > svg.rfind('<', title - 1));
    }
}

TEST_CASE("HCAs of no known host are counted apart in a picture's heading") {
    auto fabric = *topo::synthesise(*topo::parse_synth("units=2 hosts=8 rails=2"));
    fabric.hosts[0].name = "0x946dae0000010010";
    topo::derive(fabric);
    const auto svg = topo::draw_svg(fabric, {});
    CHECK(svg.find(">15 hosts, 2 rails") != std::string::npos);
    CHECK(svg.find("1 HCA of no known host") != std::string::npos);
}
