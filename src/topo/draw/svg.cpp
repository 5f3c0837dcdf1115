#include "topo/draw/svg.hpp"

#include "topo/draw/canvas.hpp"
#include "topo/draw/key.hpp"
#include "topo/draw/metrics.hpp"
#include "topo/draw/palette.hpp"
#include "topo/draw/words.hpp"
#include "topo/nameless.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace topo {
namespace draw {
namespace {

using base::HostState;

class Painter {
public:
    Painter(const Fabric& fabric, const Overlay& overlay, const Layout& layout)
        : fabric_(fabric), overlay_(overlay), layout_(layout), m_(metrics(fabric, count_slots(fabric))),
          marks_(place_marks(fabric, overlay.findings)), words_(fabric, overlay, marks_),
          switch_marks_(marks_of_switches(fabric, marks_)) {
        for (const auto& pod : layout_.pods) {
            for (const auto& spine : pod.spines)
                where_[static_cast<int>(spine.index)] = spine.box;
            for (const auto& u : pod.units)
                for (const auto& leaf : u.leaves)
                    where_[static_cast<int>(leaf.index)] = leaf.box;
        }
        for (const auto& core : layout_.cores)
            where_[static_cast<int>(core.index)] = core.box;
        find_bundles();
    }

    void paint(Canvas& canvas) const {
        for (const auto& pod : layout_.pods) {
            canvas.rect(pod.box, "pod", 4);
            for (const auto& u : pod.units)
                canvas.rect(u.box, "unit", 3);
        }
        cables(canvas);
        if (!layout_.cores.empty()) {
            heading(canvas, layout_.cores_title, "core", counted(layout_.cores.size(), "switch", "switches"));
            switches(canvas, layout_.cores, "spine");
        }
        for (const auto& box : layout_.pods)
            pod(canvas, box);
        if (layout_.unitless) unit(canvas, *layout_.unitless);
        if (!layout_.others.empty()) {
            heading(canvas, layout_.others_title, "other switches",
                    "of storage, idle, or reached by no host");
            switches(canvas, layout_.others, "leaf");
        }
    }

private:
    bool room_beside(Box box, std::string_view name, std::string_view more) const {
        const int used = text_width(name, m_.title_text) + m_.title_text;
        return used + text_width(more, m_.title_text - 1) <= box.w;
    }

    // A name in bold and, as far as there is room, more about it.
    void heading(Canvas& canvas, Box box, std::string_view name, std::string_view more) const {
        const double y = box.bottom() - m_.title * 0.3;
        canvas.text(box.x, y, m_.title_text, "b", clipped(name, m_.title_text, box.w));
        const int used = text_width(name, m_.title_text) + m_.title_text;
        if (used + 4 * m_.title_text > box.w) return;
        canvas.text(box.x + used, y, m_.title_text - 1, "m", clipped(more, m_.title_text - 1, box.w - used));
    }

    void pod(Canvas& canvas, const PodBox& box) const {
        const Pod& pod = fabric_.pods[box.pod];
        std::size_t hosts = 0;
        for (const auto u : pod.units)
            hosts += fabric_.units[u].hosts.size();
        const auto most = fmt::format("{}, {}", counted(pod.units.size(), "unit", "units"),
                                      counted(hosts, "host", "hosts"));
        const auto all = fmt::format("{}, {}", most, counted(box.spines.size(), "spine", "spines"));
        canvas.open();
        heading(canvas, box.title, pod.name, room_beside(box.title, pod.name, all) ? all : most);
        switches(canvas, box.spines, "spine");
        for (const auto& u : box.units)
            unit(canvas, u);
        canvas.close();
    }

    // Links between two switches: parallel ones are drawn as one line that describes them all.
    struct Bundle {
        int a, b; // switches, the lower index first
        std::vector<std::size_t> links;
        bool at_once; // otherwise drawn if faulty, and under the pointer
    };

    void find_bundles() {
        std::map<std::pair<int, int>, std::vector<std::size_t>> found;
        for (std::size_t l = 0; l < fabric_.links.size(); ++l) {
            const Link& link = fabric_.links[l];
            if (link.a.host != none || link.b.host != none) continue;
            const auto ends = std::minmax(link.a.switch_, link.b.switch_);
            if (where_.contains(ends.first) && where_.contains(ends.second)) found[ends].push_back(l);
        }
        constexpr std::ptrdiff_t most_between_pods = 200;
        const auto between = std::count_if(found.begin(), found.end(), [&](const auto& bundle) {
            return between_pods(bundle.first.first, bundle.first.second);
        });
        for (auto& [ends, links] : found) {
            const auto [a, b] = ends;
            const bool at_once = between_pods(a, b) ? between <= most_between_pods : in_mesh(a, b);
            if (!at_once && m_.density != Density::dense)
                for (const int s : {a, b})
                    fans_[at(s)].push_back({where_[a], where_[b]});
            bundles_.push_back({a, b, std::move(links), at_once});
        }
    }

    // If a pod has many uplinks, only links within a tier; never links to a core.
    bool in_mesh(int a, int b) const {
        const Switch &one = fabric_.switches[at(a)], &other = fabric_.switches[at(b)];
        if (one.pod == none || one.pod != other.pod) return false;
        const PodBox& pod = layout_.pods[at(one.pod)];
        return pod.mesh && (one.tier == other.tier || !pod.many);
    }

    // For example between back-to-back spines.
    bool between_pods(int a, int b) const {
        const int first = fabric_.switches[at(a)].pod, second = fabric_.switches[at(b)].pod;
        return first != second && first != none && second != none;
    }

    void cables(Canvas& canvas) const {
        canvas.open();
        for (const bool marked : {false, true}) // the marked ones on top
            for (const auto& one : bundles_)
                bundle(canvas, one, marked);
        canvas.close();
    }

    void bundle(Canvas& canvas, const Bundle& bundle, bool marked) const {
        const Mark* worst = nullptr;
        for (const auto l : bundle.links) {
            const Mark* mark = marks_.of_link(static_cast<int>(l));
            if (mark != nullptr && (worst == nullptr || mark->severity < worst->severity)) worst = mark;
        }
        if ((worst != nullptr) != marked || (!bundle.at_once && !marked)) return;
        std::string hover;
        for (const auto l : bundle.links)
            hover += (hover.empty() ? "" : "\n") + words_.link(l);
        const char* style = worst == nullptr                     ? "up"
                            : worst->severity == Severity::error ? "up-error"
                                                                 : "up-warning";
        canvas.path(cable(where_.at(bundle.a), where_.at(bundle.b)), style, hover);
    }

    // From the bottom of the upper box to the top of the lower; below two boxes of one row, an arc.
    static std::string cable(Box a, Box b) {
        const Box upper = a.y < b.y ? a : b, lower = a.y < b.y ? b : a;
        const double x1 = upper.x + upper.w / 2.0, x2 = lower.x + lower.w / 2.0;
        if (upper.y != lower.y) return fmt::format("M{} {}L{} {}", x1, upper.bottom(), x2, lower.y);
        constexpr double deep = 16;
        return fmt::format("M{} {}Q{} {} {} {}", x1, upper.bottom(), (x1 + x2) / 2, upper.bottom() + deep, x2,
                           lower.bottom());
    }

    // The uplinks of a switch that are not always drawn, shown while the pointer is over it.
    void fan(Canvas& canvas, std::size_t index) const {
        const auto found = fans_.find(index);
        if (found == fans_.end()) return;
        std::string all;
        for (const auto& [a, b] : found->second)
            all += cable(a, b);
        canvas.path(all, "fan up");
    }

    // The longest that fits.
    void label_beside_mark(Canvas& canvas, const SwitchBox& box, double base) const {
        auto labels = box.shorter;
        labels.insert(labels.begin(), box.label);
        for (const auto& label : labels)
            if (!label.empty() && text_width(label, m_.switch_text) <= box.box.w - 2 * m_.mark - 1)
                return canvas.text(box.box.x + 1, base, m_.switch_text, {}, label);
    }

    void switches(Canvas& canvas, const std::vector<SwitchBox>& boxes, std::string_view style) const {
        for (const auto& box : boxes) {
            canvas.open();
            canvas.title(words_.switch_(box.index));
            canvas.rect(box.box, style, style == "spine" ? std::min(box.box.h / 2, 6) : 0);
            const auto mark = switch_marks_.find(box.index);
            const bool marked = mark != switch_marks_.end();
            const double middle = box.box.y + box.box.h / 2.0, base = middle + m_.switch_text * 0.35;
            if (!box.label.empty() && !marked)
                canvas.text(box.box.x + box.box.w / 2.0, base, m_.switch_text, {}, box.label,
                            Canvas::Anchor::middle);
            if (marked) label_beside_mark(canvas, box, base);
            if (marked) sign(canvas, mark->second, box.box.right() - m_.mark, middle);
            fan(canvas, box.index);
            canvas.close();
        }
    }

    // A unit's name and, in the lines of its title, its hosts.
    void unit_title(Canvas& canvas, const UnitBox& box, const std::vector<std::uint32_t>& hosts) const {
        const auto name = box.unit == none ? std::string("in no unit") : fabric_.units[at(box.unit)].name;
        if (m_.density == Density::dense)
            return heading(canvas, box.title, name, known_host_names(fabric_, hosts));
        const auto lines = title_lines(fabric_, name, hosts, box.title.w, m_);
        double y = box.title.y + m_.title * 0.7;
        canvas.text(box.title.x, y, m_.title_text, "b", name);
        int x = box.title.x + text_width(name, m_.title_text) + m_.title_text;
        for (const auto& line : lines) {
            if (!line.empty()) canvas.text(x, y, m_.title_text - 1, "m", line);
            x = box.title.x;
            y += m_.title_text + 2;
        }
    }

    // A frame with the domain's name and, if there is room, its hosts here.
    void domain(Canvas& canvas, const DomainBox& box) const {
        canvas.open();
        canvas.title(words_.domain(box.domain, box.hosts));
        canvas.rect(box.box, "domain", 3);
        const int size = m_.domain_text;
        const double y = box.title.bottom() - m_.domain_title * 0.3;
        const auto name = clipped_left(
            box.domain == none ? "in no domain" : fabric_.domains[at(box.domain)].name, size, box.title.w);
        canvas.text(box.title.x, y, size, box.domain == none ? "m" : "b", name);
        const int used = text_width(name, size) + size;
        if (const auto hosts = host_names(fabric_, box.hosts); used + text_width(hosts, size) <= box.title.w)
            canvas.text(box.title.x + used, y, size, "m", hosts);
        canvas.close();
    }

    void unit(Canvas& canvas, const UnitBox& box) const {
        canvas.open();
        std::vector<std::uint32_t> hosts;
        for (const auto& cell : box.hosts)
            hosts.push_back(cell.host);
        if (box.unit == none) canvas.rect(box.box, "unit", 3);
        unit_title(canvas, box, hosts);
        switches(canvas, box.leaves, "leaf");
        for (const auto& one : box.domains)
            domain(canvas, one);
        for (const auto& cell : box.hosts)
            host(canvas, cell);
        canvas.close();
    }

    void host(Canvas& canvas, const HostBox& cell) const {
        const Box body{cell.box.x, cell.box.y, cell.box.w, cell.box.h - m_.strip};
        const auto& jobs = words_.jobs_of(cell.host);
        canvas.open();
        canvas.title(words_.host(cell.host));
        canvas.rect(cell.box, "cell");
        fill(canvas, cell.host, body, jobs);
        for (const auto& t : cell.ticks)
            tick(canvas, cell.host, t);
        labels(canvas, cell, body, jobs);
        if (const auto mark = mark_of_host(fabric_, marks_, cell.host)) {
            const double r = m_.mark;
            sign(canvas, *mark, body.right() - r - 1.5, body.y + r + 1.5);
        }
        canvas.close();
    }

    // A job fills the body; several share it. On a drained host, the job's fill remains visible below a
    // striped tape.
    void fill(Canvas& canvas, std::uint32_t h, Box body, const std::vector<std::size_t>& jobs) const {
        const int shown = static_cast<int>(jobs.size());
        for (int i = 0; i < shown; ++i) {
            const int from = body.w * i / shown, to = body.w * (i + 1) / shown;
            if (to > from) canvas.rect({body.x + from, body.y, to - from, body.h}, job_class(jobs[at(i)]));
        }
        if (!overlay_.has_states()) return;
        const auto& overlay_host = overlay_.hosts[h];
        if (!overlay_host.state) {
            canvas.rect({body.x + 1, body.y + 1, body.w - 2, body.h - 2}, "unknown");
        } else if (*overlay_host.state == HostState::busy && shown == 0) {
            canvas.rect(body, "busy");
        } else if (*overlay_host.state == HostState::drained) {
            canvas.rect(shown == 0 ? body : Box{body.x, body.y, body.w, std::max(body.h / 3, 4)}, "drained");
        } else if (*overlay_host.state == HostState::down) {
            if (shown == 0) canvas.rect(body, "down");
            canvas.path(fmt::format("M{0} {1}L{2} {3}M{2} {1}L{0} {3}", body.x + 2, body.y + 2,
                                    body.right() - 2, body.bottom() - 2),
                        "cross");
        }
        if (overlay_host.health < 1) {
            const int high = body.h - 4,
                      full = static_cast<int>(static_cast<float>(high) * overlay_host.health + 0.5F);
            const int wide = m_.density == Density::roomy ? 4 : 3;
            canvas.rect({body.x + 2, body.y + 2, wide, high}, "track");
            if (full > 0) canvas.rect({body.x + 2, body.y + 2 + high - full, wide, full}, "health");
        }
    }

    void labels(Canvas& canvas, const HostBox& cell, Box body, const std::vector<std::size_t>& jobs) const {
        std::string letters;
        for (const auto j : jobs)
            letters += (letters.empty() ? "" : "+") + Words::letter(j);
        const bool bar = overlay_.has_states() && overlay_.hosts[cell.host].health < 1;
        const int size = m_.label_text, x = body.x + (bar ? 8 : m_.density == Density::roomy ? 6 : 3);
        if (size == 0) {
            if (!letters.empty())
                canvas.text(body.x + body.w / 2.0, body.y + body.h - 1.5, 8, "b h",
                            clipped(letters, 8, body.w), Canvas::Anchor::middle);
            return;
        }
        canvas.text(x, body.y + size, size, "h", cell.label);
        if (letters.empty()) return;
        if (m_.density == Density::roomy && jobs.size() == 1)
            letters += " " + overlay_.jobs[jobs.front()].name;
        canvas.text(x, body.bottom() - (m_.density == Density::roomy ? 5 : 2), size, "b h",
                    clipped(letters, size, body.right() - x - 2));
    }

    void tick(Canvas& canvas, std::uint32_t h, const Tick& t) const {
        const Host& host = fabric_.hosts[h];
        const Mark* mark = nullptr;
        bool linked = false;
        if (t.hca != none) {
            const auto& port = host.hcas[at(t.hca)].ports[at(t.port)];
            linked = port.link != none;
            mark = linked ? marks_.of_link(port.link) : marks_.of_hca(h, static_cast<std::uint32_t>(t.hca));
        }
        const Box& b = t.box;
        const bool titled = m_.density != Density::dense || mark != nullptr || !linked;
        const auto hover = titled ? words_.port(h, t.hca, t.port, t.rail) : std::string();
        if (mark != nullptr && linked && mark->severity == Severity::warning)
            canvas.path(fmt::format("M{} {}L{:.1f} {}L{} {}Z", b.x, b.bottom(), b.x + b.w / 2.0, b.y,
                                    b.right(), b.bottom()),
                        "warning", hover);
        else if (mark != nullptr && linked)
            canvas.rect(b, "error", 0, hover);
        else if (!linked)
            canvas.rect(b, "gap", 0, hover);
        else
            canvas.rect({b.x, b.y + b.h / 2, b.w, b.h - b.h / 2}, "sound", t.rail == none ? b.w / 2 : 0,
                        hover);
    }

    void sign(Canvas& canvas, const Mark& mark, double x, double y) const {
        std::size_t worst = mark.findings.front();
        for (const auto f : mark.findings)
            if (overlay_.findings[f].severity < overlay_.findings[worst].severity) worst = f;
        draw_mark(canvas, mark.severity, worst, x, y, m_.mark);
    }

    const Fabric& fabric_;
    const Overlay& overlay_;
    const Layout& layout_;
    Metrics m_;
    Marks marks_;
    Words words_;
    std::map<std::size_t, Mark> switch_marks_;
    std::map<int, Box> where_; // cores and switches of pods
    std::vector<Bundle> bundles_;
    std::map<std::size_t, std::vector<std::pair<Box, Box>>> fans_; // by switch
};

} // namespace
} // namespace draw

std::string draw_svg(const Fabric& fabric, const Overlay& overlay) {
    using namespace draw;
    const Layout layout = lay_out(fabric);
    const int inner = layout.width - 2 * margin;
    Canvas above, body, below;
    const int top = draw_heading(above, fabric, overlay, layout, margin, inner) - margin;
    Painter(fabric, overlay, layout).paint(body);
    const int bottom = draw_findings(below, overlay, top + layout.height, inner);
    const int height = bottom > top + layout.height ? bottom + margin / 2 : bottom;

    Canvas page;
    page.raw(fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                         "viewBox=\"0 0 {0} {1}\" role=\"img\">\n",
                         layout.width, height));
    page.title(
        fmt::format("Fabric of {}", counted(fabric.hosts.size() - count_nameless(fabric), "host", "hosts")));
    page.raw(style_sheet(overlay.jobs.size()));
    page.raw(patterns(overlay.jobs.size()));
    page.rect({0, 0, layout.width, height}, "page");
    page.raw(above.take());
    page.raw(fmt::format("<g transform=\"translate(0 {})\">\n", top));
    page.raw(body.take());
    page.raw("</g>\n");
    page.raw(below.take());
    page.raw("</svg>\n");
    return page.take();
}

} // namespace topo
