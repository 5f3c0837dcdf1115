#include "check/net/picture.hpp"

#include "base/hostlist.hpp"
#include "topo/draw/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace check::net {
namespace {

using topo::draw::Canvas;

constexpr double margin = 16, label = 120, gap = 3, row_height = 14, text_height = 18;

// Shares of the rail's level and their fill patterns, the fastest first.
struct Step {
    double least;
    std::string_view style, words;
};
constexpr std::array<Step, 5> steps{{{0.95, "s0", "95 % and more"},
                                     {0.8, "s1", "80 to 95 %"},
                                     {0.5, "s2", "50 to 80 %"},
                                     {0.01, "s3", "less than 50 %"},
                                     {-1, "s4", "does not work"}}};

constexpr std::string_view styles = R"css(<style>
text{font-family:Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;fill:#1b1e23}
.b{font-weight:bold}.m{fill:#5c6470}.page{fill:#fff}
.s0{fill:#cfe3f1}.s1{fill:#56B4E9}.s2{fill:#0072B2}.s3{fill:#D55E00}.s4{fill:none;stroke:#D55E00;stroke-width:1.4}
.named{fill:none;stroke:#1b1e23;stroke-width:2}.empty{fill:none;stroke:#c9ced6}
</style>)css";

std::size_t step_of(double share) {
    std::size_t step = 0;
    while (step + 1 < steps.size() && share < steps[step].least)
        ++step;
    return step;
}

class Picture {
public:
    Picture(const Gathered& gathered, const Verdict& verdict, const std::vector<std::string>& units)
        : gathered_(gathered), verdict_(verdict), units_(units), hosts_(gathered.hosts.size()),
          rails_(verdict.bandwidth.rails) {
        std::vector<std::size_t> order(hosts_);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            if (unit(a) != unit(b)) return base::natural_less(unit(a), unit(b));
            return base::natural_less(gathered_.hosts[a], gathered_.hosts[b]);
        });
        cell_ = std::clamp(900.0 / static_cast<double>(std::max<std::size_t>(hosts_, 1)), 2.0, 24.0);
        at_.resize(hosts_);
        double x = 0;
        for (std::size_t i = 0; i < hosts_; ++i) {
            if (i > 0 && unit(order[i]) != unit(order[i - 1])) x += gap;
            at_[order[i]] = x;
            auto& [from, to] = spans_.try_emplace(unit(order[i]), x, x).first->second;
            x += cell_;
            to = x;
        }
        wide_ = x;
    }

    std::string draw() {
        y_ = margin + text_height;
        canvas_.text(margin, y_ - 4, 14, "b",
                     fmt::format("{} hosts, {} of {} rounds: {}", hosts_, gathered_.rounds,
                                 gathered_.all_rounds,
                                 verdict_.sound(gathered_) ? "nothing is slow" : "what is slow is framed"));
        units();
        ends();
        if (hosts_ <= most_hosts_in_pairs)
            for (std::uint32_t rail = 0; rail < rails_; ++rail)
                pairs(rail);
        legend();
        list();
        const auto width = margin * 2 + label + std::max(wide_, 640.0), height = y_ + margin;
        return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                           "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}\n<rect class=\"page\" width=\"{0:.0f}\" "
                           "height=\"{1:.0f}\"/>\n{3}</svg>\n",
                           width, height, styles, canvas_.take());
    }

private:
    const std::string& unit(std::size_t host) const {
        static const std::string none;
        return host < units_.size() ? units_[host] : none;
    }
    double left(std::size_t host) const { return margin + label + at_[host]; }

    static std::string box(double x, double y, double w, double h) {
        return fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z", x, y, w, h, -w);
    }
    static std::string cross(double x, double y, double w, double h) {
        return fmt::format("M{0:.1f} {1:.1f}l{2:.1f} {3:.1f}M{0:.1f} {4:.1f}l{2:.1f} {5:.1f}", x, y, w, h,
                           y + h, -h);
    }
    static std::string shape(std::size_t step, double x, double y, double w, double h) {
        return step + 1 == steps.size() ? cross(x, y, w, h) : box(x, y, w, h);
    }

    void units() {
        for (const auto& [name, span] : spans_)
            if (!name.empty()) canvas_.text(margin + label + span.first, y_ + text_height - 6, 10, "m", name);
        y_ += text_height;
    }

    void ends() {
        for (std::uint32_t rail = 0; rail < rails_; ++rail, y_ += row_height) {
            canvas_.text(margin, y_ + row_height - 4, 11, "", fmt::format("rail {}", rail));
            const auto inner = cell_ > 4 ? cell_ - 1 : cell_;
            for (std::uint32_t host = 0; host < hosts_; ++host) {
                const auto& end = verdict_.bandwidth.end(host, rail);
                const auto share = std::exp(-end.slowness);
                const auto known = end.heard > 0;
                const auto gbps = std::exp(-verdict_.bandwidth.level[rail]) * share;
                canvas_.path(
                    known ? shape(step_of(share), left(host), y_, inner, row_height - 2)
                          : box(left(host), y_, inner, row_height - 2),
                    known ? steps[step_of(share)].style : "empty",
                    fmt::format("{} rail {}: {}", gathered_.hosts[host], rail,
                                known ? fmt::format("{:.3g} Gb/s, {:.0f} % of the rail's", gbps, 100 * share)
                                      : "not measured"));
            }
            for (const auto& slow : verdict_.slow)
                frame(slow.culprit, rail);
        }
        y_ += text_height;
    }

    void frame(const Culprit& named, std::uint32_t rail) {
        if (named.rail && *named.rail != rail) return;
        if (named.host)
            canvas_.path(box(left(*named.host) - 1, y_ - 1, cell_ + 1, row_height), "named");
        else if (named.part == Part::rail)
            canvas_.path(box(margin + label - 1, y_ - 1, wide_ + 1, row_height), "named");
    }

    // Cells with the same fill are one path.
    void pairs(std::uint32_t rail) {
        canvas_.text(margin, y_ + text_height - 6, 11, "b", fmt::format("rail {}: pairs", rail));
        y_ += text_height;
        std::array<std::string, steps.size()> data;
        const auto level = std::exp(-verdict_.bandwidth.level[rail]);
        for (const auto& one : gathered_.measures) {
            if (one.rail != rail) continue;
            const auto gbps = one.measured ? std::min(one.measured->gbps, one.measured->gbps_back) : 0.0;
            const auto step = step_of(level > 0 ? gbps / level : 0);
            for (const auto& [a, b] : {std::pair(one.a, one.b), std::pair(one.b, one.a)})
                data[step] += shape(step, left(a), y_ + at_[b], cell_ > 4 ? cell_ - 1 : cell_,
                                    cell_ > 4 ? cell_ - 1 : cell_);
        }
        for (std::size_t step = 0; step < steps.size(); ++step)
            if (!data[step].empty()) canvas_.path(data[step], steps[step].style);
        if (cell_ >= 10)
            for (std::size_t host = 0; host < hosts_; ++host)
                canvas_.text(margin + label - 4, y_ + at_[host] + cell_ - 2, 9, "m", gathered_.hosts[host],
                             Canvas::Anchor::end);
        y_ += wide_ + text_height;
    }

    void legend() {
        auto x = margin + label;
        canvas_.text(margin, y_ + 10, 11, "m", "of the rail's level");
        for (std::size_t step = 0; step < steps.size(); ++step, x += 120) {
            canvas_.path(shape(step, x, y_, 10, 10), steps[step].style);
            canvas_.text(x + 14, y_ + 9, 10, "m", steps[step].words);
        }
        y_ += text_height * 1.5;
    }

    void list() {
        const auto line = [&](const std::string& text) {
            canvas_.text(margin, y_ + 10, 11, "", text);
            y_ += text_height;
        };
        for (const auto& slow : verdict_.slow)
            line(slow.says);
        for (const auto& lost : gathered_.lost)
            line(gathered_.hosts[lost.host] + ": " + lost.why);
        for (const auto& one : verdict_.unusable)
            line(one);
    }

    const Gathered& gathered_;
    const Verdict& verdict_;
    const std::vector<std::string>& units_;
    std::size_t hosts_;
    std::uint32_t rails_;
    double cell_ = 0, wide_ = 0, y_ = 0;
    std::vector<double> at_;                                 // by host
    std::map<std::string, std::pair<double, double>> spans_; // by unit
    Canvas canvas_;
};

} // namespace

std::string draw_svg(const Gathered& gathered, const Verdict& verdict,
                     const std::vector<std::string>& units) {
    return Picture(gathered, verdict, units).draw();
}

} // namespace check::net
