#include "restart/ctl/enable/slurm_text.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace restart::enable {
namespace {

using base::Code;
using base::Error;
using base::Expected;

bool same(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}
bool blank(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool of_key(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// KEY=VALUE as written in a text: positions of the key's first byte, of the value's first and after its last.
struct Assignment {
    std::string key, value;
    std::size_t begin, value_begin, end;
    std::size_t line;       // from 1
    bool first, alone;      // of its line; with nothing else on it but a comment
    bool continued = false; // its value may continue on the next line
};

// One line: its bytes without comment and the backslash of a continuation.
struct Line {
    std::size_t begin, end; // without the comment
    std::size_t whole_end;  // with comment and newline
    bool continues;         // the next one belongs to it
};

Line line_at(std::string_view text, std::size_t begin) {
    const auto newline = std::min(text.find('\n', begin), text.size());
    Line line{begin, newline, std::min(newline + 1, text.size()), false};
    std::size_t backslashes = 0;
    for (auto i = begin; i < newline; ++i) {
        if (text[i] == '#' && backslashes % 2 == 0) {
            line.end = i;
            break;
        }
        backslashes = text[i] == '\\' ? backslashes + 1 : 0;
    }
    while (line.end > begin && blank(text[line.end - 1]))
        --line.end;
    auto slashes = line.end;
    while (slashes > begin && text[slashes - 1] == '\\')
        --slashes;
    line.continues = (line.end - slashes) % 2 == 1;
    if (line.continues) --line.end;
    return line;
}

// As in Slurm's parser: KEY = VALUE or KEY="a value", several in a line.
void assignments_in(std::string_view text, const Line& line, std::size_t number, bool starts,
                    std::vector<Assignment>& into) {
    const auto from = into.size();
    auto at = line.begin;
    const auto skip = [&] {
        while (at < line.end && blank(text[at]))
            ++at;
    };
    std::size_t words = 0;
    for (skip(); at < line.end; skip()) {
        ++words;
        const auto begin = at;
        while (at < line.end && of_key(text[at]))
            ++at;
        const auto key = text.substr(begin, at - begin);
        skip();
        if (key.empty() || at == line.end || text[at] != '=') { // "Key+=", an Include or not a setting at all
            while (at < line.end && !blank(text[at]))
                ++at;
            continue;
        }
        ++at;
        skip();
        const auto value_begin = at;
        std::string_view value;
        if (at == line.end) continue; // no value
        const auto quote = text[at] == '"' ? text.find('"', at + 1) : std::string_view::npos;
        if (quote < line.end && (quote + 1 == line.end || blank(text[quote + 1]))) {
            value = text.substr(at + 1, quote - at - 1);
            at = quote + 1;
        } else {
            while (at < line.end && !blank(text[at]))
                ++at;
            value = text.substr(value_begin, at - value_begin);
        }
        into.push_back({std::string(key), std::string(value), begin, value_begin, at, number,
                        starts && words == 1, false, line.continues && at == line.end});
    }
    if (into.size() == from + 1 && words == 1 && starts && !line.continues) into.back().alone = true;
}

std::vector<Assignment> assignments(std::string_view text) {
    std::vector<Assignment> found;
    bool starts = true;
    std::size_t number = 1;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
        const auto line = line_at(text, begin);
        assignments_in(text, line, number, starts, found);
        starts = !line.continues;
        begin = line.whole_end;
    }
    return found;
}

// Where to add a line: before the first line of nodes or partitions, else at the end.
std::size_t place_for_new(const std::string& text) {
    for (const auto& found : assignments(text)) {
        if (!found.first) continue;
        for (const char* late : {"NodeName", "PartitionName", "NodeSet", "DownNodes", "FrontendName"})
            if (same(found.key, late)) {
                const auto newline = text.rfind('\n', found.begin);
                return newline == std::string::npos ? 0 : newline + 1;
            }
    }
    return text.size();
}

void add_line(std::string& text, const std::string& line) {
    auto at = place_for_new(text);
    const bool open = at == text.size() && !text.empty() && text.back() != '\n';
    text.insert(at, (open ? "\n" : "") + line + "\n");
}

// The setting's whole line if it has nothing else and no comment.
void erase(std::string& text, const Assignment& found) {
    auto begin = found.begin, end = found.end;
    if (found.alone) {
        const auto newline = text.rfind('\n', begin);
        const auto start = newline == std::string::npos ? 0 : newline + 1;
        const auto line = line_at(text, start);
        const auto comment = text.find('#', line.end);
        if (comment == std::string::npos || comment >= line.whole_end) {
            text.erase(start, line.whole_end - start);
            return;
        }
    }
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t'))
        ++end;
    text.erase(begin, end - begin);
}

// All settings but one, and the one.
std::vector<std::pair<std::string, std::string>> others_in(std::string_view text, std::string_view key) {
    std::vector<std::pair<std::string, std::string>> others;
    for (auto& found : assignments(text))
        if (!same(found.key, key)) others.emplace_back(std::move(found.key), std::move(found.value));
    return others;
}
std::string value_in(std::string_view text, std::string_view key) {
    for (const auto& found : assignments(text))
        if (same(found.key, key)) return found.value;
    return {};
}

} // namespace

std::vector<std::string> SlurmText::values(std::string_view key) const {
    std::vector<std::string> values;
    for (const auto& file : files_)
        for (const auto& found : assignments(file.text))
            if (same(found.key, key)) values.push_back(found.value);
    return values;
}

std::optional<std::string> SlurmText::value(std::string_view key) const {
    auto all = values(key);
    if (all.empty()) return {};
    return std::move(all.back());
}

Expected<std::optional<SettingChange>> SlurmText::set(std::string_view key, const std::string& value) {
    std::vector<std::string> places;
    TextFile* file = nullptr;
    std::optional<Assignment> at;
    for (auto& each : files_)
        for (auto& found : assignments(each.text)) {
            if (!same(found.key, key)) continue;
            places.push_back(fmt::format("{}:{}", each.path, found.line));
            file = &each;
            at = std::move(found);
        }
    if (places.size() > 1)
        return Error{Code::unfit,
                     fmt::format("{} stands at {}: leave one of them", key, fmt::join(places, " and "))};
    if (!at && value.empty()) return std::optional<SettingChange>();
    if (at && at->value == value) return std::optional<SettingChange>();
    if (at && at->continued)
        return Error{Code::unfit,
                     fmt::format("{}: {} goes on in the next line: write it in one", places.front(), key)};
    if (!at) file = &files_.front();
    SettingChange change{file->path, std::string(key), at ? at->value : "", value};
    auto text = file->text;
    if (!at)
        add_line(text, fmt::format("{}={}", key, value));
    else if (value.empty())
        erase(text, *at);
    else
        text.replace(at->value_begin, at->end - at->value_begin, value);
    // Unterminated quotes and backslashes may change its meaning.
    if (others_in(text, key) != others_in(file->text, key) || value_in(text, key) != value)
        return Error{Code::unfit,
                     fmt::format("{}: {} cannot be changed without changing others: tidy up its line",
                                 places.empty() ? file->path : places.front(), key)};
    file->text = std::move(text);
    return std::optional(std::move(change));
}

std::vector<std::string> includes(std::string_view text) {
    std::vector<std::string> names;
    bool starts = true;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto line = line_at(text, begin);
        auto at = line.begin;
        const auto word = [&] {
            while (at < line.end && blank(text[at]))
                ++at;
            const auto from = at;
            while (at < line.end && !blank(text[at]))
                ++at;
            return text.substr(from, at - from);
        };
        if (starts && same(word(), "include"))
            if (const auto name = word(); !name.empty()) names.emplace_back(name);
        starts = !line.continues;
        begin = line.whole_end;
    }
    return names;
}

std::vector<LineSettings> lines_of(const std::vector<TextFile>& files, std::string_view first_key) {
    std::vector<LineSettings> lines;
    for (const auto& file : files) {
        bool wanted = false;
        for (auto& found : assignments(file.text)) {
            if (found.first) {
                wanted = same(found.key, first_key);
                if (wanted) lines.emplace_back();
            }
            if (wanted) lines.back().emplace_back(std::move(found.key), std::move(found.value));
        }
    }
    return lines;
}

} // namespace restart::enable
