// fabric-rules(5): what an administrator knows better than any discovery: which devices of which hosts are
// rails, storage, or none of our business.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace topo {

// Names by pattern: '*' any characters, '?' one, and Slurm's brackets "n[001-128]".
class Patterns {
public:
    // Errors (Code::input): unbalanced brackets, an empty pattern, more than 1,048,576 names.
    base::Expected<void> add(std::string_view pattern);

    bool empty() const { return exact_.empty() && globs_.empty(); }
    std::size_t size() const { return count_; }
    // The position of the first pattern that matches, brackets counted out; size() when none does.
    std::size_t find(std::string_view name) const;
    bool match(std::string_view name) const { return find(name) < count_; }

private:
    std::unordered_map<std::string, std::size_t> exact_;
    std::vector<std::pair<std::string, std::size_t>> globs_;
    std::size_t count_ = 0;
};

struct Rule {
    std::uint32_t line = 0;
    Patterns hosts;                            // empty: all
    Patterns rails, compute, storage, ignored; // devices or, with a ':' in it, PCI addresses
    std::string domain{};                      // the NVLink domain of these hosts; empty: says nothing of it
};

struct Verdict {
    enum class What : std::uint8_t { nothing, compute, storage, ignored, rail };
    What what = What::nothing;
    int rail = none;
};

struct Rules {
    std::string name; // of the file
    std::vector<Rule> rules;

    // The first rule for the host that names the HCA by device or PCI address (empty: not known) decides. A
    // host whose rule gives rails has those and no others: its other HCAs are storage. `used`, if given, has
    // a place for each rule and is set for the one that decided.
    Verdict judge(std::string_view host, std::string_view device, std::string_view pci,
                  std::vector<bool>* used = nullptr) const;
    bool gives_rails(std::string_view host) const;
};

// Errors (Code::input) say "FILE:LINE: …": text that is not TOML, unknown tables and keys, patterns that are
// none; Code::io when the file cannot be read.
base::Expected<Rules> parse_rules(std::string_view text, std::string_view name);
base::Expected<Rules> read_rules(const std::filesystem::path& path);

// Gives hosts the NVLink domain of the first rule for them that names one.
void name_domains(Fabric& fabric, const Rules& rules);

// Takes the HCAs that rules say to ignore out of the fabric, with their links, and hosts of which none is
// left. Sentences: rules that named no HCA of this fabric. Linear time in HCAs and links.
std::vector<std::string> drop_ignored(Fabric& fabric, const Rules& rules);

} // namespace topo
