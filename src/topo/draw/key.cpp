#include "topo/draw/key.hpp"

#include "topo/draw/palette.hpp"
#include "topo/nameless.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace topo::draw {
namespace {

using base::HostState;

constexpr int swatch_w = 24, swatch_h = 14, row = 22, text_size = 12;
constexpr std::size_t most_jobs = 16, most_findings = 24;

// Signs and their meaning, side by side and in rows.
class Signs {
public:
    Signs(Canvas& canvas, int top, int width) : canvas_(canvas), y_(top), width_(width) {}

    void add(std::string_view meaning, const std::function<void(Box)>& sign) {
        const int needs = swatch_w + 6 + text_width(meaning, text_size) + 16;
        if (x_ > 0 && x_ + needs > width_) {
            x_ = 0;
            y_ += row;
        }
        sign({margin + x_, y_ + 4, swatch_w, swatch_h});
        canvas_.text(margin + x_ + swatch_w + 6, y_ + 15, text_size, {}, meaning);
        x_ += needs;
    }
    void new_row() {
        if (x_ > 0) y_ += row;
        x_ = 0;
    }
    int bottom() const { return y_ + (x_ > 0 ? row : 0); }

private:
    Canvas& canvas_;
    int x_ = 0, y_, width_;
};

void add_states(Signs& signs, Canvas& canvas, const Overlay& overlay) {
    std::map<std::optional<HostState>, std::size_t> counts;
    bool impaired = false;
    for (const auto& host : overlay.hosts) {
        ++counts[host.state];
        impaired = impaired || host.health < 1;
    }
    const auto cell = [&](std::string_view fill) {
        return [&canvas, fill](Box box) {
            canvas.rect(box, "cell");
            if (!fill.empty()) canvas.rect(box, fill);
        };
    };
    signs.add(fmt::format("{} free", counts[HostState::free]), cell(""));
    signs.add(fmt::format("{} allocated", counts[HostState::busy]), cell("busy"));
    signs.add(fmt::format("{} drained", counts[HostState::drained]), cell("drained"));
    signs.add(fmt::format("{} down", counts[HostState::down]), [&](Box box) {
        cell("down")(box);
        canvas.path(fmt::format("M{} {}L{} {}M{} {}L{} {}", box.x + 4, box.y + 2, box.right() - 4,
                                box.bottom() - 2, box.right() - 4, box.y + 2, box.x + 4, box.bottom() - 2),
                    "cross");
    });
    if (counts[std::nullopt] > 0)
        signs.add(fmt::format("{} of unknown state", counts[std::nullopt]),
                  [&](Box box) { canvas.rect(box, "unknown"); });
    if (impaired)
        signs.add("health below 1: how full the bar is", [&](Box box) {
            canvas.rect({box.x + 8, box.y, 4, box.h}, "track");
            canvas.rect({box.x + 8, box.y + 8, 4, box.h - 8}, "health");
        });
}

void add_ticks(Signs& signs, Canvas& canvas, const Fabric& fabric, bool storage) {
    if (fabric.rails > 0)
        signs.add(fmt::format("{}{}, a tick each",
                              fabric.rails == 1 ? "rail 0" : fmt::format("rails 0 to {}", fabric.rails - 1),
                              storage ? ", then storage" : ""),
                  [&](Box box) {
                      for (int i = 0; i < 3; ++i)
                          canvas.rect({box.x + 1 + 7 * i, box.y + 7, 5, 7}, "sound");
                  });
    signs.add("not connected", [&](Box box) { canvas.rect({box.x + 8, box.y + 2, 5, 12}, "gap"); });
    signs.add("warning", [&](Box box) {
        canvas.path(fmt::format("M{} {}L{} {}L{} {}Z", box.x, box.bottom(), box.x + 3, box.y, box.x + 6,
                                box.bottom()),
                    "warning");
        draw_mark(canvas, Severity::warning, 0, box.x + 16, box.y + 7, 6);
    });
    signs.add("error, told below by its number", [&](Box box) {
        canvas.rect({box.x, box.y, 5, box.h}, "error");
        draw_mark(canvas, Severity::error, 0, box.x + 16, box.y + 7, 6);
    });
}

// Which uplinks the picture shows, if not all of them.
void add_uplinks(Signs& signs, Canvas& canvas, const Fabric& fabric, const Layout& layout) {
    const bool any = std::any_of(fabric.links.begin(), fabric.links.end(),
                                 [](const Link& link) { return link.a.host == none && link.b.host == none; });
    const bool folded =
        !layout.cores.empty() || std::any_of(layout.pods.begin(), layout.pods.end(), [](const PodBox& pod) {
            return !pod.spines.empty() && (pod.many || !pod.mesh);
        });
    if (!any || !folded) return;
    signs.add(
        layout.density == Density::dense ? "uplinks: drawn where faulty"
                                         : "uplinks: drawn where faulty, and of the switch under the pointer",
        [&](Box box) { canvas.line(box.x + 2, box.y + 2, box.right() - 2, box.bottom() - 2, "up-error"); });
}

int draw_jobs(Canvas& canvas, const Fabric& fabric, const Overlay& overlay, int y, int width) {
    const auto shown = std::min(overlay.jobs.size(), most_jobs);
    int names = 0, places = 0;
    std::vector<std::string> where;
    for (std::size_t j = 0; j < shown; ++j) {
        where.push_back(whereabouts(fabric, overlay.jobs[j]));
        names = std::max(names, text_width(overlay.jobs[j].name, text_size));
        places = std::max(places, text_width(where.back(), text_size));
    }
    names = std::min(names, width / 4) + 14;
    for (std::size_t j = 0; j < shown; ++j, y += row) {
        const auto& job = overlay.jobs[j];
        const Box box{margin, y + 4, swatch_w, swatch_h};
        canvas.open();
        canvas.title(fmt::format("job {} {}\n{}\n{}", Words::letter(j), job.name, where[j],
                                 host_names(fabric, job.hosts)));
        canvas.rect(box, "cell");
        canvas.rect(box, job_class(j));
        canvas.text(box.x + box.w / 2.0, y + 15, 11, "b h", Words::letter(j), Canvas::Anchor::middle);
        int x = box.right() + 6;
        canvas.text(x, y + 15, text_size, "b", clipped(job.name, text_size, names - 14));
        canvas.text(x += names, y + 15, text_size, {}, where[j]);
        x += places + 14;
        canvas.text(x, y + 15, text_size, "m",
                    clipped(host_names(fabric, job.hosts), text_size, margin + width - x));
        canvas.close();
    }
    if (overlay.jobs.size() > shown) {
        canvas.text(margin, y + 15, text_size, "m",
                    fmt::format("and {} more jobs", overlay.jobs.size() - shown));
        y += row;
    }
    return y;
}

} // namespace

void draw_mark(Canvas& canvas, Severity severity, std::size_t finding, double x, double y, double radius) {
    const bool error = severity == Severity::error;
    if (error)
        canvas.circle(x, y, radius, "error");
    else
        canvas.square(x, y, radius - 0.5, "warning");
    if (radius < 5 || finding + 1 > 99) return;
    const int size = static_cast<int>(radius) + (finding + 1 > 9 ? 2 : 3);
    canvas.text(x, y + size * 0.36, size, error ? "on" : "at", fmt::format("{}", finding + 1),
                Canvas::Anchor::middle);
}

int draw_heading(Canvas& canvas, const Fabric& fabric, const Overlay& overlay, const Layout& layout, int top,
                 int width) {
    int y = top;
    const auto unknown = count_nameless(fabric);
    canvas.text(margin, y + 18, 20, "b",
                fmt::format("{}, {}, {}{}, {}", counted(fabric.hosts.size() - unknown, "host", "hosts"),
                            counted(static_cast<std::size_t>(fabric.rails), "rail", "rails"),
                            fabric.domains.empty()
                                ? ""
                                : counted(fabric.domains.size(), "NVLink domain, ", "NVLink domains, "),
                            counted(fabric.units.size(), "unit", "units"),
                            counted(fabric.pods.size(), "pod", "pods")));
    y += 28;
    std::string more =
        unknown > 0 ? fmt::format("and {} of no known host", counted(unknown, "HCA", "HCAs")) : std::string();
    if (!fabric.source.empty()) more += (more.empty() ? "from " : "; from ") + fabric.source;
    if (!more.empty()) {
        canvas.text(margin, y + 10, 11, "m", clipped(more, 11, width));
        y += 20;
    }
    Signs signs(canvas, y, width);
    if (overlay.has_states()) add_states(signs, canvas, overlay);
    signs.new_row();
    bool storage = false;
    for (const auto& pod : layout.pods)
        for (const auto& unit : pod.units)
            for (const auto& host : unit.hosts)
                for (const auto& tick : host.ticks)
                    storage = storage || tick.rail == none;
    add_ticks(signs, canvas, fabric, storage);
    if (!fabric.domains.empty())
        signs.add("hosts of an NVLink domain", [&](Box box) {
            canvas.rect(box, "domain", 3);
            for (const int at : {4, 13})
                canvas.rect({box.x + at, box.y + 4, 7, 6}, "cell");
        });
    add_uplinks(signs, canvas, fabric, layout);
    return draw_jobs(canvas, fabric, overlay, signs.bottom(), width) + 4;
}

int draw_findings(Canvas& canvas, const Overlay& overlay, int top, int width) {
    constexpr int left = margin + 22, gap = 14;
    int y = top, column = left + 100; // where the sentences begin
    std::size_t listed = 0, matter = 0;
    for (const auto& finding : overlay.findings) {
        if (finding.severity == Severity::info) continue;
        if (++matter <= most_findings)
            column = std::max(column, left + text_width(finding.code, text_size) + gap);
    }
    if (matter == 0) return y;
    canvas.text(margin, y + 13, 13, "b", counted(matter, "finding", "findings"));
    y += row;
    for (std::size_t f = 0; f < overlay.findings.size() && listed < most_findings; ++f) {
        const auto& finding = overlay.findings[f];
        if (finding.severity == Severity::info) continue;
        canvas.open();
        canvas.title(finding.text);
        draw_mark(canvas, finding.severity, f, margin + 8, y + 9, 7);
        canvas.text(left, y + 13, text_size, "m", finding.code);
        for (const auto& line : wrapped(finding.text, text_size, width - column, 3)) {
            canvas.text(column, y + 13, text_size, {}, line);
            y += row - 6;
        }
        canvas.close();
        y += 4;
        ++listed;
    }
    if (matter > listed) {
        canvas.text(left, y + 13, text_size, "m",
                    fmt::format("and {} more; railtopo check tells them all", matter - listed));
        y += row;
    }
    return y + 6;
}

} // namespace topo::draw
