#include "topo/draw/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace topo::draw {
namespace {

// From Okabe and Ito's eight colours: orange and vermillion are reserved for warnings and errors, black for
// text.
constexpr std::array<std::string_view, 5> colours{
    "#0072B2", // blue
    "#009E73", // bluish green
    "#CC79A7", // reddish purple
    "#56B4E9", // sky blue
    "#B8AA00", // yellow (#F0E442), darkened for a white background
};

// In a square of 6 x 6.
constexpr std::array<std::string_view, 7> hatches{
    "M-1 1L1 -1M0 6L6 0M5 7L7 5", // rising
    "M3 3h.01",                   // dots
    "M0 3H6",                     // level
    "M-1 5L1 7M0 0L6 6M5 -1L7 1", // falling
    "M3 0V6",                     // upright
    "M3 0V6M0 3H6",               // grid
    "M0 0L6 6M0 6L6 0",           // crossed
};
constexpr std::size_t all_fills = colours.size() * hatches.size();

} // namespace

std::string style_sheet(std::size_t jobs) {
    std::string out = R"css(<style>
text{font-family:Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;fill:#1b1e23;pointer-events:none}
.b{font-weight:bold}.m{fill:#5c6470}
.h{paint-order:stroke;stroke:#fff;stroke-width:2.5px;stroke-linejoin:round}
.page{fill:#fff}
.pod{fill:#f3f4f6;stroke:#c9ced6}
.unit{fill:#fff;stroke:#c9ced6}
.domain{fill:#eaf1f8;stroke:#a9c1d9}
.leaf{fill:#d9dee6;stroke:#8b94a3}
.spine{fill:#c3cbd8;stroke:#7b8596}
.cell{fill:#fff;stroke:#8b94a3}
.unknown{fill:none;stroke:#8b94a3;stroke-dasharray:2 2}
.busy{fill:#8b94a3;fill-opacity:.45}
.drained{fill:url(#drained)}
.down{fill:#D55E00;fill-opacity:.18}
.cross{fill:none;stroke:#D55E00;stroke-width:1.6}
.sound{fill:#7b8596}
.warning{fill:#E69F00;stroke:#1b1e23;stroke-width:.5}
.error{fill:#D55E00}
.gap{fill:none;stroke:#5c6470;stroke-width:.8}
.health{fill:#1b1e23}.track{fill:#fff;stroke:#1b1e23;stroke-width:.6}
.up{fill:none;stroke:#7b8596;stroke-width:.7;stroke-opacity:.5}
.fan{visibility:hidden;pointer-events:none}g:hover>.fan{visibility:visible;stroke:#0072B2;stroke-opacity:1}
.up-warning{fill:none;stroke:#E69F00;stroke-width:2.4;stroke-dasharray:6 3}
.up-error{fill:none;stroke:#D55E00;stroke-width:2.4}
.on{fill:#fff;font-weight:bold}.at{fill:#1b1e23;font-weight:bold}
@media (prefers-color-scheme:dark){
text{fill:#e8eaed}.m{fill:#9aa3b0}.h{stroke:#14161a}
.page{fill:#14161a}.pod{fill:#1b1f25;stroke:#3d4550}.unit{fill:#14161a;stroke:#3d4550}
.domain{fill:#1a2430;stroke:#3b5068}
.leaf{fill:#303741;stroke:#6f7a89}.spine{fill:#3a4350;stroke:#7b8596}
.cell{fill:#14161a;stroke:#6f7a89}.unknown{stroke:#6f7a89}.gap{stroke:#9aa3b0}
.warning{stroke:#14161a}.health{fill:#e8eaed}.track{fill:#14161a;stroke:#e8eaed}
.on{fill:#fff}.at{fill:#1b1e23}
}
)css";
    for (std::size_t j = 0; j < std::min(jobs, all_fills); ++j)
        out += fmt::format(".j{0}{{fill:url(#j{0})}}\n", j);
    return out + "</style>\n";
}

std::string patterns(std::size_t jobs) {
    std::string out = "<defs>\n"
                      "<pattern id=\"drained\" width=\"10\" height=\"10\" patternUnits=\"userSpaceOnUse\">"
                      "<rect width=\"10\" height=\"10\" fill=\"#E69F00\" fill-opacity=\".25\"/>"
                      "<path d=\"M-2.5 2.5L2.5 -2.5M0 10L10 0M7.5 12.5L12.5 7.5\" stroke=\"#E69F00\" "
                      "stroke-width=\"3.4\"/></pattern>\n";
    for (std::size_t j = 0; j < std::min(jobs, all_fills); ++j) {
        const auto colour = colours[j % colours.size()];
        const auto hatch = j % hatches.size();
        out += fmt::format(
            "<pattern id=\"j{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
            "<rect width=\"6\" height=\"6\" fill=\"{}\" fill-opacity=\".24\"/>"
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-opacity=\".6\" stroke-width=\"{}\" "
            "stroke-linecap=\"{}\"/></pattern>\n",
            j, colour, hatches[hatch], colour, hatch == 1 ? "2.6" : "1.1", hatch == 1 ? "round" : "butt");
    }
    return out + "</defs>\n";
}

std::string job_class(std::size_t job) {
    return fmt::format("j{}", job % all_fills);
}

} // namespace topo::draw
