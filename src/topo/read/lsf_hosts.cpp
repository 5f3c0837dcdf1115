#include "topo/read/lsf_hosts.hpp"

#include "base/hostlist.hpp"
#include "topo/read/name_lists.hpp"
#include "topo/read/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// A row's fields: words, and lists in parentheses.
using Fields = std::vector<std::vector<std::string_view>>;

struct Definition {
    std::string name;
    std::vector<std::string> members;
    std::uint32_t line = 0;
};

// Thrown only in this file: an error at a line that was read before.
struct Wrong {
    std::uint32_t line;
    std::string text;
};

class HostsText {
public:
    void read(std::string_view line, std::uint32_t number) {
        Cursor cursor(line);
        const auto word = cursor.word();
        if (same_word(word, "Begin")) {
            if (section_) Cursor(line).fail(fmt::format("End {} is wanted", *section_));
            section_ = std::string(cursor.word());
            if (section_->empty()) cursor.fail("the name of a section is wanted");
            columns_.clear();
            return;
        }
        if (same_word(word, "End")) {
            const auto name = cursor.word();
            if (!section_ || !same_word(name, *section_))
                Cursor(line).fail(section_ ? fmt::format("End {} is wanted", *section_)
                                           : "Begin is wanted first");
            section_.reset();
            return;
        }
        if (!section_) Cursor(line).fail("Begin and the name of a section are wanted");
        if (same_word(*section_, "ComputeUnit")) row(line, number, "NAME", "MEMBER", units);
        if (same_word(*section_, "HostGroup")) row(line, number, "GROUP_NAME", "GROUP_MEMBER", groups);
        if (same_word(*section_, "Host")) row(line, number, "HOST_NAME", "", hosts);
    }

    void finish() const {
        if (section_) throw Unreadable{fmt::format("the file ends where End {} is wanted", *section_)};
    }

    std::vector<Definition> units, groups, hosts;

private:
    static Fields fields(std::string_view line) {
        Fields fields;
        Cursor cursor(line);
        while (!cursor.at_end()) {
            auto& field = fields.emplace_back();
            if (!cursor.take("(")) {
                field.push_back(cursor.until(" \t("));
                continue;
            }
            while (true) {
                if (cursor.at_end()) cursor.fail("a closing ) is wanted");
                if (cursor.take(")")) break;
                if (cursor.rest().starts_with('(')) cursor.fail("parentheses in parentheses");
                field.push_back(cursor.until(" \t()"));
            }
        }
        return fields;
    }

    void row(std::string_view line, std::uint32_t number, std::string_view name, std::string_view members,
             std::vector<Definition>& into) {
        const auto row = fields(line);
        if (columns_.empty()) {
            for (const auto& field : row)
                columns_.emplace_back(field.size() == 1 ? std::string(field[0]) : std::string());
            name_ = column(name);
            members_ = members.empty() ? 0 : column(members);
            return;
        }
        if (row.size() <= std::max(name_, members_) || row[name_].size() != 1)
            throw Unreadable{fmt::format("a line of {} must have {}{}{}", *section_, name,
                                         members.empty() ? "" : " and ", members)};
        Definition definition;
        definition.line = number;
        definition.name = row[name_][0];
        if (!members.empty()) definition.members.assign(row[members_].begin(), row[members_].end());
        into.push_back(std::move(definition));
    }

    std::size_t column(std::string_view name) const {
        for (std::size_t i = 0; i < columns_.size(); ++i)
            if (same_word(columns_[i], name)) return i;
        throw Unreadable{fmt::format("the first line of {} must name the column {}", *section_, name)};
    }

    std::optional<std::string> section_;
    std::vector<std::string> columns_;
    std::size_t name_ = 0, members_ = 0;
};

class Resolver {
public:
    Resolver(const HostsText& text, Outline& outline) : text_(text), outline_(outline) {}

    void run() {
        for (const auto& host : text_.hosts)
            if (!same_word(host.name, "default") && host.name.find_first_of("*!~") == std::string::npos)
                for (auto& name : expand(host.name, host.line))
                    known_.push_back(std::move(name));
        for (const auto& group : text_.groups)
            groups_.emplace(group.name, &group); // of two with one name the first; LSF uses the last, warning
        if (text_.units.empty())
            from_groups();
        else
            from_units();
    }

private:
    static constexpr std::size_t most_matched = std::size_t{1} << 26;

    std::vector<std::string> expand(std::string_view name, std::uint32_t line) {
        try {
            return names_.expand("members", name);
        } catch (const Unreadable& unreadable) {
            throw Wrong{line, unreadable.text};
        }
    }

    void from_units() {
        std::unordered_set<std::string_view> unit_names;
        for (const auto& unit : text_.units)
            unit_names.insert(unit.name);
        for (const auto& unit : text_.units) {
            auto& made = outline_.groups.emplace_back();
            made.name = unit.name;
            made.line = unit.line;
            std::vector<std::string> members;
            for (const auto& member : unit.members) {
                if (unit_names.contains(member))
                    made.groups.push_back(member);
                else
                    members.push_back(member);
            }
            made.hosts = hosts_of(members, unit.line);
            if (made.hosts.empty() && made.groups.empty())
                throw Wrong{unit.line, fmt::format("compute unit {} has no member that is known",
                                                   trimmed_printable(unit.name))};
        }
    }

    // Only groups that form a tree: groups of hosts, and groups of such groups.
    void from_groups() {
        std::vector<std::string> passed;
        std::unordered_set<std::string_view> taken;
        for (const auto& group : text_.groups) {
            const auto inner = std::count_if(group.members.begin(), group.members.end(),
                                             [&](const auto& m) { return groups_.contains(m); });
            const bool odd = std::any_of(group.members.begin(), group.members.end(), [](const auto& m) {
                return m.starts_with('~') || m == "!" || m == "all";
            });
            const bool mixed = inner != 0 && static_cast<std::size_t>(inner) != group.members.size();
            if (odd || mixed || group.members.empty() || groups_.at(group.name) != &group) {
                passed.push_back(group.name);
                continue;
            }
            auto& made = outline_.groups.emplace_back();
            made.name = group.name;
            made.line = group.line;
            if (inner != 0)
                made.groups = group.members;
            else
                made.hosts = hosts_of(group.members, group.line);
            taken.insert(group.name);
        }
        for (auto& group : outline_.groups)
            std::erase_if(group.groups, [&](const auto& name) { return !taken.contains(name); });
        std::erase_if(outline_.groups, [](const auto& g) { return g.hosts.empty() && g.groups.empty(); });
        if (!passed.empty())
            outline_.notes.push_back(
                fmt::format("{}: host groups that are no part of a tree are passed over: {}", outline_.source,
                            trimmed_printable(fmt::format("{}", fmt::join(passed, ", ")))));
    }

    // The hosts that these members represent, in order, each once.
    std::vector<std::string> hosts_of(const std::vector<std::string>& members, std::uint32_t line) {
        std::vector<std::string> all;
        std::unordered_set<std::string> seen, without;
        for (const auto& member : members) {
            const bool out = member.starts_with('~');
            const auto name = out ? std::string_view(member).substr(1) : std::string_view(member);
            for (auto& host : stands_for(name, line))
                if (out)
                    without.insert(std::move(host));
                else if (seen.insert(host).second)
                    all.push_back(std::move(host));
        }
        std::erase_if(all, [&](const auto& host) { return without.contains(host); });
        return all;
    }

    std::vector<std::string> stands_for(std::string_view name, std::uint32_t line) {
        if (name.empty()) throw Wrong{line, "'~' without a name"};
        if (name == "!") {
            outline_.notes.push_back(
                fmt::format("{}:{}: members from egroup (!) are not known", outline_.source, line));
            return {};
        }
        if (name == "all") return counted(known_, line);
        if (const auto found = groups_.find(std::string(name)); found != groups_.end()) {
            const Definition* group = found->second;
            if (!open_.insert(group).second)
                throw Wrong{group->line,
                            fmt::format("host group {} is inside itself", trimmed_printable(group->name))};
            if (open_.size() > 64)
                throw Wrong{group->line, "host groups more than 64 deep inside each other"};
            auto hosts = counted(hosts_of(group->members, group->line), line);
            open_.erase(group);
            return hosts;
        }
        if (name.find('*') == std::string_view::npos) return expand(name, line);
        Patterns pattern;
        if (const auto done = pattern.add(name); !done)
            throw Wrong{line, trimmed_printable(done.error().text)};
        if ((matched_ += known_.size() * pattern.size()) > most_matched)
            throw Wrong{line, "more wildcards than can be matched against so many hosts"};
        std::vector<std::string> hosts;
        for (const auto& host : known_)
            if (pattern.match(host)) hosts.push_back(host);
        return counted(std::move(hosts), line);
    }

    std::vector<std::string> counted(std::vector<std::string> hosts, std::uint32_t line) {
        try {
            names_.count(hosts.size() + 1);
        } catch (const Unreadable& unreadable) {
            throw Wrong{line, unreadable.text};
        }
        return hosts;
    }

    const HostsText& text_;
    Outline& outline_;
    NameLists names_;
    std::vector<std::string> known_;
    std::unordered_map<std::string, const Definition*> groups_;
    std::unordered_set<const Definition*> open_;
    std::size_t matched_ = 0;
};

} // namespace

Expected<Outline> parse_lsb_hosts(std::string_view text, std::string_view name) {
    Outline outline;
    outline.source = name;
    outline.joined = true;
    HostsText hosts;
    Lines lines(text);
    std::string_view line;
    std::uint32_t first = 0;
    try {
        std::string whole; // a line with its continuations
        while (lines.next(line)) {
            if (line.starts_with("#INCLUDE"))
                outline.notes.push_back(fmt::format("{}:{}: included files are not read: {}", name,
                                                    lines.number(),
                                                    trimmed_printable(trimmed(line.substr(8)))));
            if (first == 0) first = lines.number();
            auto part = trimmed(line.substr(0, line.find('#')));
            const bool continued = part.ends_with('\\');
            if (continued) part.remove_suffix(1);
            whole += part;
            whole += ' ';
            if (continued) continue;
            if (!trimmed(whole).empty()) hosts.read(trimmed(whole), first);
            whole.clear();
            first = 0;
        }
        first = lines.number();
        hosts.finish();
        Resolver(hosts, outline).run();
    } catch (const Unreadable& unreadable) {
        return Error{Code::input, fmt::format("{}:{}: {}", name, first, unreadable.text)};
    } catch (const Wrong& wrong) {
        return Error{Code::input, fmt::format("{}:{}: {}", name, wrong.line, wrong.text)};
    }
    if (outline.groups.empty())
        return Error{Code::input,
                     fmt::format("{}: holds no ComputeUnit and no host group that is a unit", name)};
    return outline;
}

} // namespace topo
