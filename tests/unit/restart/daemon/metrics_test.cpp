#include "restart/daemon/metrics.hpp"

#include "base/file.hpp"
#include "unit/source.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>

using restart::Metric;
using restart::Metrics;

namespace {

// Samples of a page by name and labels, read as Prometheus does (text exposition format 0.0.4); `problems`
// names what it would refuse.
struct Page {
    std::map<std::string, double> samples;
    std::vector<std::string> problems;

    explicit Page(const std::string& text) {
        static const std::regex sample(
            R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-z_]+="([^"\\\n]|\\[\\"n])*",?)+\})? ([-+0-9.eE]+|\+Inf|NaN))re");
        static const std::regex head(R"(# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+))");
        std::map<std::string, std::string> type;
        std::set<std::string> helped;
        std::istringstream lines(text);
        std::smatch match;
        for (std::string line; std::getline(lines, line);) {
            if (std::regex_match(line, match, head)) {
                if (match[1] == "HELP" ? !helped.insert(match[2]).second
                                       : !type.emplace(match[2], match[3]).second)
                    problems.push_back("twice: " + line);
                if (match[1] == "TYPE" && match[3] != "counter" && match[3] != "gauge" &&
                    match[3] != "histogram")
                    problems.push_back("type: " + line);
                continue;
            }
            if (!std::regex_match(line, match, sample)) {
                problems.push_back("syntax: " + line);
                continue;
            }
            const auto family = std::regex_replace(match[1].str(), std::regex("_(bucket|sum|count)$"), "");
            const auto name = type.count(match[1]) != 0 ? match[1].str() : family;
            if (type.count(name) == 0 || helped.count(name) == 0)
                problems.push_back("no TYPE or HELP: " + line);
            if (type[name] == "counter" && !name.ends_with("_total"))
                problems.push_back("counter without _total: " + line);
            if (!samples.emplace(match[1].str() + match[2].str(), std::stod(match[5].str())).second)
                problems.push_back("twice: " + line);
        }
        if (!text.ends_with('\n')) problems.push_back("no newline at the end");
    }
    double operator[](const std::string& name) const {
        const auto found = samples.find(name);
        return found == samples.end() ? std::nan("") : found->second;
    }
};

} // namespace

TEST_CASE("the metrics page is what Prometheus reads") {
    Metrics metrics;
    metrics.add(Metric::reports, {"nodewatchd"});
    metrics.add(Metric::reports, {"nodewatchd"}, 2);
    metrics.add(Metric::reports_refused, {"we\"ird\\\nreason"});
    metrics.set(Metric::agents_silent, {}, 3);
    metrics.observe(Metric::step_seconds, 0.0005);
    metrics.observe(Metric::step_seconds, 0.003);
    metrics.observe(Metric::step_seconds, 60);
    const Page page(metrics.print());
    CHECK(page.problems == std::vector<std::string>{});
    CHECK(page["railyard_reports_total{agent=\"nodewatchd\"}"] == 3);
    CHECK(page["railyard_reports_refused_total{reason=\"we\\\"ird\\\\\\nreason\"}"] == 1);
    CHECK(page["railyard_agents_silent"] == 3);
    CHECK(page["railyard_step_seconds_bucket{le=\"0.0001\"}"] == 0);
    CHECK(page["railyard_step_seconds_bucket{le=\"0.0005\"}"] == 1);
    CHECK(page["railyard_step_seconds_bucket{le=\"0.005\"}"] == 2);
    CHECK(page["railyard_step_seconds_bucket{le=\"5\"}"] == 2);
    CHECK(page["railyard_step_seconds_bucket{le=\"+Inf\"}"] == 3);
    CHECK(page["railyard_step_seconds_count"] == 3);
    CHECK(page["railyard_step_seconds_sum"] == Approx(60.0035));
    CHECK(page["railyard_rm_up"] == 0); // without labels: there from the start
}

TEST_CASE("a gauge forgets labels that no longer occur") {
    Metrics metrics;
    metrics.set_all(Metric::hosts, {{{"idle"}, 3}, {{"down"}, 1}});
    metrics.set_all(Metric::hosts, {{{"idle"}, 4}});
    const Page page(metrics.print());
    CHECK(page["railyard_hosts{state=\"idle\"}"] == 4);
    CHECK(std::isnan(page["railyard_hosts{state=\"down\"}"]));
}

TEST_CASE("the manual page lists every metric") {
    const auto page = base::read_file(test::source("man/railyard-metrics.7"));
    REQUIRE(page);
    for (const auto& row : restart::metric_rows()) {
        INFO(row.name);
        std::string labels;
        for (const auto label : row.labels)
            labels += (labels.empty() ? "" : ",") + std::string(label);
        const auto item =
            ".It Li " + std::string(row.name) + (labels.empty() ? "\n" : " Ns Brq " + labels + "\n");
        CHECK(page->find(item) != std::string::npos);
    }
}
