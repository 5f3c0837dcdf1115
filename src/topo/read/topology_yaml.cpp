#include "topo/read/name_lists.hpp"
#include "topo/read/slurm_topology.hpp"
#include "topo/read/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// Thrown only in this file.
struct Wrong {
    std::uint32_t line;
    std::string text;
};

class TopologyYaml {
public:
    TopologyYaml(Outline& outline, bool blocks_only) : outline_(outline), blocks_only_(blocks_only) {}

    void read(const Yaml& root) {
        if (root.kind != Yaml::Kind::list || root.items.empty())
            throw Wrong{root.line, "a list of topologies (- topology: NAME) is wanted"};
        const Yaml* chosen = nullptr;
        std::vector<std::string> others;
        bool is_default = false;
        for (const Yaml& item : root.items) {
            const auto& name = text(item, "topology");
            const auto* said = item.find("cluster_default");
            const bool first =
                said != nullptr && (same_word(said->text, "true") || same_word(said->text, "yes"));
            const bool known =
                item.find("block") != nullptr || (!blocks_only_ && item.find("tree") != nullptr);
            if (known && (chosen == nullptr || (first && !is_default))) {
                if (chosen != nullptr) others.push_back(text(*chosen, "topology"));
                chosen = &item;
                is_default = first;
            } else {
                others.push_back(name);
            }
        }
        if (chosen == nullptr)
            throw Wrong{root.line, blocks_only_
                                       ? "no topology of it has blocks"
                                       : "no topology of it is a tree or has blocks; others tell no units"};
        if (!others.empty())
            outline_.notes.push_back(
                fmt::format("{}: topology {} is read, not {}", outline_.source,
                            trimmed_printable(text(*chosen, "topology")),
                            trimmed_printable(fmt::format("{}", fmt::join(others, ", ")))));
        if (const auto* blocks = chosen->find("block");
            blocks != nullptr && (blocks_only_ || chosen->find("tree") == nullptr))
            read_blocks(*blocks);
        else
            read_tree(*chosen->find("tree"));
    }

private:
    static const Yaml& map(const Yaml& value) {
        if (value.kind != Yaml::Kind::map) throw Wrong{value.line, "keys and values are wanted"};
        return value;
    }

    static const std::string& text(const Yaml& item, std::string_view key) {
        const auto* value = map(item).find(key);
        if (value == nullptr || value->kind != Yaml::Kind::scalar || value->text.empty())
            throw Wrong{item.line, fmt::format("{}: a name is wanted", key)};
        return value->text;
    }

    static const Yaml& list(const Yaml& item, std::string_view key) {
        const auto* value = map(item).find(key);
        if (value == nullptr || value->kind != Yaml::Kind::list)
            throw Wrong{item.line, fmt::format("{}: a list is wanted", key)};
        return *value;
    }

    static void only(const Yaml& item, std::initializer_list<std::string_view> known) {
        for (std::size_t i = 0; i < map(item).keys.size(); ++i)
            if (std::find(known.begin(), known.end(), item.keys[i]) == known.end())
                throw Wrong{item.items[i].line,
                            fmt::format("unknown key {}; there are {}", trimmed_printable(item.keys[i]),
                                        fmt::join(known.begin(), known.end(), ", "))};
    }

    std::vector<std::string> names(const Yaml& item, std::string_view key) {
        const auto* value = item.find(key);
        if (value->kind == Yaml::Kind::map)
            throw Wrong{value->line, fmt::format("{}: a list of names is wanted", key)};
        try {
            if (value->kind == Yaml::Kind::scalar) return names_.expand(key, value->text);
            std::vector<std::string> all; // [n1, n2]
            for (const Yaml& part : value->items) {
                auto some = names_.expand(key, part.text);
                all.insert(all.end(), some.begin(), some.end());
            }
            return all;
        } catch (const Unreadable& unreadable) {
            throw Wrong{value->line, unreadable.text};
        }
    }

    void read_tree(const Yaml& tree) {
        only(tree, {"switches"});
        for (const Yaml& item : list(tree, "switches").items) {
            only(item, {"switch", "children", "nodes"});
            Outline::Group group;
            group.line = item.line;
            group.name = text(item, "switch");
            if ((item.find("children") == nullptr) == (item.find("nodes") == nullptr))
                throw Wrong{item.line, fmt::format("switch {} must have either nodes or children",
                                                   trimmed_printable(group.name))};
            if (item.find("nodes") != nullptr)
                group.hosts = names(item, "nodes");
            else
                group.groups = names(item, "children");
            outline_.groups.push_back(std::move(group));
        }
    }

    void read_blocks(const Yaml& block) {
        outline_.joined = true;
        for (const Yaml& item : list(block, "blocks").items) {
            only(item, {"block", "nodes"});
            Outline::Group group;
            group.line = item.line;
            group.name = text(item, "block");
            if (item.find("nodes") == nullptr)
                throw Wrong{item.line,
                            fmt::format("block {} must have nodes", trimmed_printable(group.name))};
            group.hosts = names(item, "nodes");
            outline_.groups.push_back(std::move(group));
        }
    }

    Outline& outline_;
    const bool blocks_only_;
    NameLists names_;
};

} // namespace

Expected<Outline> parse_topology_yaml(std::string_view text, std::string_view name, bool blocks_only) {
    const auto root = parse_yaml(text, name);
    if (!root) return root.error();
    Outline outline;
    outline.source = name;
    try {
        TopologyYaml(outline, blocks_only).read(*root);
    } catch (const Wrong& wrong) {
        return Error{Code::input, fmt::format("{}:{}: {}", name, wrong.line, wrong.text)};
    }
    return outline;
}

} // namespace topo
