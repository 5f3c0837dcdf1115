// What check() finds of faults planted into fabrics of nine kinds, and into real dumps where there are any:
// one fault of each kind, and five and twenty of mixed kinds at once. For each kind of fault how many were
// planted, how many a finding names at the right place, and how many findings too many there were; for each
// fabric the same. A finding that the sound fabric has already, or information, is none too many.
//
// Seeds are printed, and the same seed plants the same faults.
#include "bench/fault_planter.hpp"

#include "base/child.hpp"
#include "base/cli.hpp"
#include "base/json.hpp"
#include "base/table.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"
#include "topo/read/assemble.hpp"
#include "topo/read/ibnetdiscover.hpp"
#include "topo/synth/ibsim_net.hpp"
#include "topo/synth/synth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace {

struct Sample {
    std::string name;
    topo::RawFabric raw;
    topo::Fabric sound;
    std::vector<topo::Finding> known; // what is found without faults
};

struct Count {
    std::size_t planted = 0, found = 0, extra = 0;
};

[[noreturn]] void give_up(const std::string& why) {
    fmt::print(stderr, "faults_bench: {}\n", why);
    std::_Exit(1);
}

template <class Value> Value need(base::Expected<Value> value) {
    if (!value) give_up(value.error().text);
    return *std::move(value);
}

Sample read(std::string name, std::string_view text) {
    Sample sample{std::move(name), need(topo::parse_ibnetdiscover(text, "text")), {}, {}};
    sample.sound = need(topo::assemble(sample.raw)).fabric;
    sample.known = topo::check(sample.sound);
    return sample;
}

Sample made(std::string name, std::string_view words) {
    const auto fabric = need(topo::synthesise(need(topo::parse_synth(words))));
    return read(std::move(name), topo::print_ibsim_net(fabric));
}

std::vector<Sample> made_samples() {
    std::vector<Sample> all;
    all.push_back(made("rails", "units=4 hosts=32"));
    all.push_back(made("three tiers", "pods=2 units=4 hosts=16"));
    all.push_back(made("two rails", "pods=2 units=4 hosts=16 rails=2"));
    all.push_back(made("one rail", "units=8 hosts=16 rails=1 spines=4"));
    all.push_back(made("own storage", "units=4 hosts=16 storage=2 rate=4xHDR"));
    all.push_back(made("halved", "pods=2 units=4 hosts=16 halved=1"));
    all.push_back(made("two planes", "units=4 hosts=16 rails=4 planes=2"));
    all.push_back(made("pairs of leaves", "units=8 hosts=16 rails=2 ports=2 leaves=1"));
    all.push_back(made("groups of spines", "pods=4 units=4 hosts=16 rails=4 globals=1"));
    return all;
}

// Dumps of real networks, each once: those that have a fault planted already have it among what is known.
std::vector<Sample> real_samples(const std::filesystem::path& folder) {
    std::vector<Sample> all;
    if (!std::filesystem::is_directory(folder)) {
        fmt::print("{} is not there: no real dumps, so their rows are skipped\n", folder.string());
        return all;
    }
    for (const auto* stem : {"topograph", "selst"}) {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            if (entry.path().filename().string().starts_with(stem)) files.push_back(entry.path());
        if (files.empty()) continue;
        std::sort(files.begin(), files.end());
        const auto text =
            need(base::output_of({"xz", "-dc", files.front().string()}, std::chrono::seconds(30)));
        all.push_back(read(stem, text));
    }
    return all;
}

// The name that a switch had in the sound fabric: one that got another's is told with its GUID.
std::string known_as(const Sample& sample, const std::string& end) {
    const auto bracket = end.rfind(" (0x");
    if (bracket == std::string::npos) return end;
    const auto guid =
        topo::parse_guid(std::string_view(end).substr(bracket + 2, end.rfind(')') - bracket - 2));
    for (const auto& one : sample.sound.switches)
        if (guid && one.guid == *guid) return one.name + end.substr(end.rfind(')') + 1);
    return end;
}

// A finding that the sound fabric has too. Those of names gather many HCAs and hosts, and those of missing
// hosts name what may be missing in a unit: their first ends differ.
bool known(const Sample& sample, const topo::Finding& finding) {
    return std::any_of(sample.known.begin(), sample.known.end(), [&](const topo::Finding& before) {
        if (before.code != finding.code) return false;
        if (before.ends == finding.ends || finding.code.starts_with("name.")) return true;
        if (before.ends.empty() || finding.ends.empty()) return false;
        if (finding.code == "host.missing" && before.ends.back() == finding.ends.back())
            return true; // the unit
        return before.ends.front() == known_as(sample, finding.ends.front());
    });
}

class Bench {
public:
    Bench(std::size_t rounds, unsigned seed, bool tell) : rounds_(rounds), seed_(seed), tell_(tell) {}

    void run(const Sample& sample) {
        std::vector<std::size_t> all;
        for (std::size_t k = 0; k < faults::kinds().size(); ++k)
            all.push_back(k);
        for (std::size_t round = 0; round < rounds_; ++round)
            for (const auto kind : all)
                plant(sample, 1, {kind}, seed_ + static_cast<unsigned>(round * 1000 + kind));
        for (const std::size_t n : {std::size_t{5}, std::size_t{20}})
            for (std::size_t round = 0; round < rounds_ * 4; ++round) {
                const auto seed = seed_ + static_cast<unsigned>(n * 100000 + round);
                std::mt19937 random(seed);
                auto kinds = all;
                std::shuffle(kinds.begin(), kinds.end(), random);
                plant(sample, n, kinds, seed);
            }
    }

    const std::map<std::pair<std::size_t, std::size_t>, Count>& by_kind() const { return by_kind_; }
    const std::map<std::pair<std::string, std::size_t>, Count>& by_fabric() const { return by_fabric_; }

private:
    void plant(const Sample& sample, std::size_t n, const std::vector<std::size_t>& kinds, unsigned seed) {
        faults::Planter planter(sample.raw, sample.sound, seed);
        for (std::size_t i = 0; planter.planted().size() < n && i < std::max(kinds.size(), n); ++i)
            planter.plant(kinds[i % kinds.size()]);
        if (planter.planted().empty()) return;
        auto assembly = topo::assemble(planter.raw());
        if (!assembly) give_up(fmt::format("{} seed {}: {}", sample.name, seed, assembly.error().text));
        const auto findings = topo::check(assembly->fabric);
        std::vector<char> explained(findings.size(), 0);
        Count& fabric = by_fabric_[{sample.name, n}];
        for (const auto& planted : planter.planted()) {
            Count& kind = by_kind_[{planted.kind, n}];
            ++kind.planted;
            ++fabric.planted;
            bool found = faults::kinds()[planted.kind].codes.empty();
            for (std::size_t f = 0; f < findings.size(); ++f)
                if (faults::is_at(findings[f], planted)) {
                    explained[f] = 1;
                    found = true;
                }
            kind.found += found ? 1 : 0;
            fabric.found += found ? 1 : 0;
            if (!found && tell_)
                fmt::print("{} n={} seed {}: {} at {} is not found\n", sample.name, n, seed,
                           faults::kinds()[planted.kind].name, fmt::join(planted.places, ", "));
        }
        for (std::size_t f = 0; f < findings.size(); ++f) {
            if (explained[f] != 0 || findings[f].severity == topo::Severity::info ||
                known(sample, findings[f]))
                continue;
            ++fabric.extra;
            if (n == 1) ++by_kind_[{planter.planted().front().kind, n}].extra;
            if (tell_)
                fmt::print("{} n={} seed {} ({}): too many: {} {}\n", sample.name, n, seed,
                           faults::kinds()[planter.planted().front().kind].name, findings[f].code,
                           findings[f].text.substr(0, 150));
        }
    }

    std::size_t rounds_;
    unsigned seed_;
    bool tell_;
    std::map<std::pair<std::size_t, std::size_t>, Count> by_kind_;   // kind, faults at once
    std::map<std::pair<std::string, std::size_t>, Count> by_fabric_; // fabric, faults at once
};

constexpr std::size_t numbers[] = {1, 5, 20};

template <class Key>
std::vector<std::string> cells(const std::map<std::pair<Key, std::size_t>, Count>& counts, const Key& key) {
    std::vector<std::string> out;
    for (const auto n : numbers) {
        const auto found = counts.find({key, n});
        const Count count = found == counts.end() ? Count{} : found->second;
        out.push_back(std::to_string(count.planted));
        out.push_back(std::to_string(count.found));
        out.push_back(std::to_string(count.extra));
    }
    return out;
}

base::Table table(std::string first) {
    std::vector<std::string> heading{std::move(first)};
    for (const auto n : numbers)
        for (const auto* what : {"PLANTED", "FOUND", "EXTRA"})
            heading.push_back(fmt::format("{} {}", what, n));
    base::Table made(heading);
    for (std::size_t c = 1; c < heading.size(); ++c)
        made.align(c, base::Table::Align::right);
    return made;
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("faults_bench", "Count what railtopo check finds of planted faults.", "railtopo(1)");
    std::size_t rounds = 3;
    unsigned seed = 1;
    std::string dumps = "../../shared/data/fabrics", only, words;
    bool tell = false, json = false;
    cli->add_option("--rounds", rounds, "Of every kind of fault; four times as many of several")
        ->capture_default_str();
    cli->add_option("--seed", seed, "Of the first round")->capture_default_str();
    cli->add_option("--dumps", dumps, "Folder of real dumps, ibnetdiscover's text in xz")
        ->capture_default_str();
    cli->add_option("--only", only, "The fabric of that name alone");
    cli->add_option("--synth", words, "A fabric of these words of railtopo synth alone");
    cli->add_flag("--tell", tell, "Print each fault that is not found and each finding too many");
    cli->add_flag("--json", json, "Print JSON");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;

    std::vector<Sample> samples;
    if (!words.empty()) {
        samples.push_back(made(words, words));
    } else {
        samples = made_samples();
        for (auto& real : real_samples(dumps))
            samples.push_back(std::move(real));
    }
    Bench bench(rounds, seed, tell);
    for (const auto& sample : samples)
        if (only.empty() || sample.name == only) bench.run(sample);

    std::map<std::size_t, Count> all;
    auto kinds = table("FAULT"), fabrics = table("FABRIC");
    for (std::size_t k = 0; k < faults::kinds().size(); ++k) {
        std::vector<std::string> row{std::string(faults::kinds()[k].name)};
        for (auto& cell : cells(bench.by_kind(), k))
            row.push_back(std::move(cell));
        kinds.add(row);
    }
    for (const auto& sample : samples) {
        std::vector<std::string> row{sample.name};
        for (auto& cell : cells(bench.by_fabric(), sample.name))
            row.push_back(std::move(cell));
        fabrics.add(row);
    }
    for (const auto& [key, count] : bench.by_fabric()) {
        all[key.second].planted += count.planted;
        all[key.second].found += count.found;
        all[key.second].extra += count.extra;
    }
    if (json) {
        boost::json::array rows;
        for (const auto& [key, count] : bench.by_fabric())
            rows.push_back(boost::json::object{{"fabric", key.first},
                                               {"faults", key.second},
                                               {"planted", count.planted},
                                               {"found", count.found},
                                               {"extra", count.extra}});
        fmt::print("{}\n",
                   base::to_text(boost::json::object{
                       {"bench", "faults"}, {"seed", seed}, {"rounds", rounds}, {"rows", std::move(rows)}}));
        return base::finish_output(cli, base::exit_done);
    }
    fmt::print("Planted faults, seed {}, {} rounds of each kind; with 1, 5 and 20 at once\n{}\n{}", seed,
               rounds, kinds.print(), fabrics.print());
    for (const auto& [n, count] : all)
        fmt::print("{:>2} at once: {} of {} found ({:.1f} %), {} findings too many ({:.1f} %)\n", n,
                   count.found, count.planted,
                   100.0 * static_cast<double>(count.found) / static_cast<double>(count.planted), count.extra,
                   100.0 * static_cast<double>(count.extra) / static_cast<double>(count.planted));
    return base::finish_output(cli, base::exit_done);
}
