// fabric-rules(5): what an administrator knows better than a discovery: which devices of which hosts are
// rails, storage, or to be ignored.
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
    // The position of the first pattern that matches, with brackets expanded; size() if there is none.
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
    Patterns rails, compute, storage, ignored; // devices or, if it contains ':', PCI addresses
    std::string domain{};                      // the NVLink domain of these hosts; empty: not given
};

struct Verdict {
    enum class What : std::uint8_t { nothing, compute, storage, ignored, rail };
    What what = What::nothing;
    int rail = none;
};

struct Rules {
    std::string name; // of the file
    std::vector<Rule> rules;

    // The first rule for the host that names the HCA by device or PCI address (empty: unknown) decides. A
    // host whose rule gives rails has only those: its other HCAs are storage. `used`, if given, has an entry
    // for each rule, which is set for the one that decided.
    Verdict judge(std::string_view host, std::string_view device, std::string_view pci,
                  std::vector<bool>* used = nullptr) const;
    bool gives_rails(std::string_view host) const;
};

// Errors (Code::input) read "FILE:LINE: …": text that is not TOML, unknown tables and keys, invalid patterns;
// Code::io if the file cannot be read.
base::Expected<Rules> parse_rules(std::string_view text, std::string_view name);
base::Expected<Rules> read_rules(const std::filesystem::path& path);

// Sets the NVLink domain of hosts from the first rule for them that gives one.
void name_domains(Fabric& fabric, const Rules& rules);

// Removes the HCAs that rules ignore from the fabric, with their links, and hosts without remaining HCAs.
// Returns sentences about rules that matched no HCA of this fabric. Linear time in HCAs and links.
std::vector<std::string> drop_ignored(Fabric& fabric, const Rules& rules);

} // namespace topo
