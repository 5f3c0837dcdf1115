#include "topo/read/slurm_topology.hpp"

#include "topo/read/name_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

class ConfText {
public:
    explicit ConfText(Outline& outline) : outline_(outline) {}

    void read(std::string_view line, std::uint32_t number) {
        Cursor cursor(line);
        Record record;
        while (!cursor.at_end()) {
            const auto start = cursor.rest();
            const auto key = cursor.until("= \t");
            if (same_word(key, "Include"))
                Cursor(start).fail("included files are not read: give each one's text, or all in one");
            cursor.skip_space();
            cursor.need("=");
            cursor.skip_space();
            take(record, key, value(cursor), start);
        }
        finish(std::move(record), number);
    }

    void finish() {
        if (blocks_ && switches_) throw Unreadable{"the file has both switches and blocks"};
        outline_.joined = blocks_;
        add_own();
    }

private:
    struct Record {
        std::string_view switch_name, block_name, nodes, switches;
        bool sizes = false, seen = false;
        bool shown = false; // from scontrol, which adds all nodes below to each switch
    };

    static std::string_view value(Cursor& cursor) {
        if (!cursor.take("\"")) return cursor.word();
        const auto text = cursor.until("\"");
        cursor.need("\"");
        return text;
    }

    static void take(Record& record, std::string_view key, std::string_view value, std::string_view start) {
        record.seen = true;
        std::string_view* into = same_word(key, "SwitchName")  ? &record.switch_name
                                 : same_word(key, "BlockName") ? &record.block_name
                                 : same_word(key, "Nodes")     ? &record.nodes
                                 : same_word(key, "Switches")  ? &record.switches
                                                               : nullptr;
        if (same_word(key, "Level")) {
            record.shown = true;
        } else if (into != nullptr) {
            if (value.empty()) Cursor(start).fail("a value is wanted");
            if (!into->empty()) Cursor(start).fail("the key stands twice in this line");
            *into = value;
        } else if (same_word(key, "BlockSizes") || same_word(key, "AggregatedBlock")) {
            record.sizes = true;
        } else if (!same_word(key, "LinkSpeed") && !same_word(key, "BlockIndex") &&
                   !same_word(key, "BlockSize")) {
            Cursor(start).fail("SwitchName, Switches, Nodes, LinkSpeed, BlockName or BlockSizes is wanted");
        }
    }

    void finish(Record record, std::uint32_t line) {
        if (!record.seen) return;
        const bool named = !record.switch_name.empty() || !record.block_name.empty();
        if (record.sizes && !named) return; // sizes of aggregated blocks: not part of the network
        if (!named) throw Unreadable{"a line must have SwitchName, BlockName or BlockSizes"};
        if (!record.switch_name.empty() && !record.block_name.empty())
            throw Unreadable{"a line has both SwitchName and BlockName"};
        Outline::Group group;
        group.line = line;
        if (!record.block_name.empty()) {
            blocks_ = true;
            group.name = names_.one("BlockName", record.block_name);
            if (record.nodes.empty() || !record.switches.empty())
                throw Unreadable{fmt::format("block {} must have Nodes", trimmed_printable(group.name))};
        } else {
            switches_ = true;
            group.name = names_.one("SwitchName", record.switch_name);
            if (record.shown && !record.switches.empty() && !record.nodes.empty()) {
                shown_.emplace_back(outline_.groups.size(), names_.expand("Nodes", record.nodes));
                record.nodes = {};
            }
            if (record.nodes.empty() == record.switches.empty())
                throw Unreadable{fmt::format("switch {} must have either Nodes or Switches",
                                             trimmed_printable(group.name))};
        }
        if (!record.nodes.empty())
            group.hosts = names_.expand("Nodes", record.nodes);
        else
            group.groups = names_.expand("Switches", record.switches);
        outline_.groups.push_back(std::move(group));
    }

    // Nodes of a switch that are below none of its switches get a separate group.
    void add_own() {
        std::unordered_set<std::string> placed;
        for (const auto& group : outline_.groups)
            placed.insert(group.hosts.begin(), group.hosts.end());
        std::stable_sort(shown_.begin(), shown_.end(), [](const auto& a, const auto& b) {
            return a.second.size() < b.second.size(); // lower levels first
        });
        for (auto& [index, nodes] : shown_) {
            std::erase_if(nodes, [&](const std::string& node) { return !placed.insert(node).second; });
            if (nodes.empty()) continue;
            Outline::Group own;
            own.name = outline_.groups[index].name + "/own";
            own.line = outline_.groups[index].line;
            own.hosts = std::move(nodes);
            outline_.groups[index].groups.push_back(own.name);
            outline_.groups.push_back(std::move(own));
        }
    }

    Outline& outline_;
    NameLists names_;
    bool blocks_ = false, switches_ = false;
    std::vector<std::pair<std::size_t, std::vector<std::string>>> shown_; // groups and all nodes below them
};

// Without its comment: from '#' on, unless it is preceded by '\'.
std::string_view without_comment(std::string_view line) {
    for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
        if (at == 0 || line[at - 1] != '\\') return line.substr(0, at);
    return line;
}

} // namespace

Expected<Outline> parse_topology_conf(std::string_view text, std::string_view name) {
    Outline outline;
    outline.source = name;
    ConfText conf(outline);
    Lines lines(text);
    std::string_view line;
    std::uint32_t first = 0;
    try {
        std::string whole; // a line with its continuations
        while (lines.next(line)) {
            auto part = without_comment(line);
            if (first == 0) first = lines.number();
            const auto end = part.find_last_not_of(" \t");
            const bool continued = end != std::string_view::npos && part[end] == '\\';
            if (continued) part = part.substr(0, end);
            whole += part;
            whole += ' ';
            if (continued) continue;
            conf.read(whole, first);
            whole.clear();
            first = 0;
        }
        if (first != 0) throw Unreadable{"the file ends in a line that should be continued"};
        first = lines.number();
        conf.finish();
    } catch (const Unreadable& unreadable) {
        return Error{Code::input, fmt::format("{}:{}: {}", name, first, unreadable.text)};
    }
    if (outline.groups.empty())
        return Error{Code::input, fmt::format("{}: holds no SwitchName or BlockName", name)};
    return outline;
}

} // namespace topo
