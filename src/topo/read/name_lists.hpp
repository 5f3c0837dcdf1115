// Host lists in resource managers' files, with a limit for the whole file: a line of twenty characters can
// name a million hosts.
#pragma once

#include "base/hostlist.hpp"
#include "topo/read/raw_fabric.hpp"
#include "topo/read/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace topo {

class NameLists {
public:
    // Throws Unreadable.
    std::vector<std::string> expand(std::string_view key, std::string_view list) {
        constexpr std::size_t longest = 255;
        auto names = base::expand_hostlist(list);
        if (!names) throw Unreadable{std::string(key) + ": " + trimmed_printable(names.error().text)};
        if (names->empty()) throw Unreadable{std::string(key) + ": an empty list"};
        for (const auto& name : *names)
            if (name.size() > longest || trimmed_printable(name) != name)
                throw Unreadable{std::string(key) + ": a name that is too long or cannot be printed"};
        count(names->size());
        return *std::move(names);
    }
    std::string one(std::string_view key, std::string_view list) {
        auto names = expand(key, list);
        if (names.size() != 1) throw Unreadable{std::string(key) + ": one name is wanted"};
        return std::move(names.front());
    }
    void count(std::size_t names) {
        if ((total_ += names) > most) throw Unreadable{"the file names more than a million things"};
    }

private:
    static constexpr std::size_t most = std::size_t{1} << 20;
    std::size_t total_ = 0;
};

} // namespace topo
