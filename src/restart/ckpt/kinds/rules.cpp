#include "restart/ckpt/kinds/rules.hpp"

#include "base/units.hpp"
#include "base/utf8.hpp"
#include "restart/ckpt/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace restart::ckpt::kinds {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_shard(std::string_view name) {
    constexpr std::array<std::string_view, 5> endings{".pt", ".distcp", ".ckpt", ".safetensors", ".bin"};
    return std::any_of(endings.begin(), endings.end(), [&](auto ending) { return name.ends_with(ending); });
}

std::optional<std::uint64_t> number_at(std::string_view text, std::size_t begin) {
    auto end = begin;
    while (end < text.size() && is_digit(text[end]))
        ++end;
    const auto number = base::parse_count(text.substr(begin, end - begin));
    if (!number || *number > max_step) return {};
    return *number;
}

base::Expected<void> add(Files& files, const std::string& folder, unsigned depth, Weight& weight) {
    if (is_nearly_out(files)) {
        weight.cut = true;
        return {};
    }
    const auto names = files.names(folder);
    if (!names) return names.error();
    if (!*names) return {};
    for (const auto& name : **names) {
        if (is_nearly_out(files)) {
            weight.cut = true;
            return {};
        }
        const auto path = folder.empty() ? name : folder + '/' + name;
        const auto entry = files.entry(path);
        if (!entry) return entry.error();
        if (!*entry) continue;
        if ((*entry)->is_folder()) {
            weight.cut = weight.cut || depth == 0;
            if (depth == 0) continue;
            if (auto ok = add(files, path, depth - 1, weight); !ok) return ok;
        }
        if (!(*entry)->is_file()) continue;
        const auto begun = (*entry)->begun(), modified = (*entry)->modified;
        ++weight.files;
        weight.bytes += (*entry)->bytes;
        weight.begun = std::min(weight.begun.value_or(begun), begun);
        weight.changed = std::min(weight.changed.value_or(modified), modified);
        weight.last = std::max(weight.last.value_or(modified), modified);
        if (!is_shard(name)) continue;
        weight.last_shard = std::max(weight.last_shard.value_or(modified), modified);
        if ((*entry)->bytes == 0 && weight.empty.empty()) weight.empty = name;
    }
    return {};
}

} // namespace

bool is_nearly_out(const Files& files) {
    return files.left() <= 64;
}

void pass_over(Found& found, std::string_view name, std::string_view why) {
    if (found.passed_over.size() < most_passed_over)
        found.passed_over.push_back(fmt::format("{}: {}", base::printable(name, 200), why));
}

bool is_plain_name(std::string_view name) {
    if (!check_file_name(name) || name.size() > 255 || name.find('/') != std::string_view::npos) return false;
    for (std::size_t i = 0; i + 1 < name.size(); ++i) {
        const auto byte = [&](std::size_t at) {
            return at < name.size() ? static_cast<unsigned char>(name[at]) : 0u;
        };
        if (byte(i) == 0xc2 && byte(i + 1) < 0xa0) return false; // U+0080 to U+009F
        if (byte(i) != 0xe2) continue;
        // U+200E, U+200F, U+2028 to U+202E; U+2066 to U+2069
        if (byte(i + 1) == 0x80 &&
            (byte(i + 2) == 0x8e || byte(i + 2) == 0x8f || (byte(i + 2) >= 0xa8 && byte(i + 2) <= 0xae)))
            return false;
        if (byte(i + 1) == 0x81 && byte(i + 2) >= 0xa6 && byte(i + 2) <= 0xa9) return false;
    }
    return true;
}

bool has(const Names& names, std::string_view name) {
    return std::binary_search(names.begin(), names.end(), name, std::less<>());
}

std::optional<std::string> pointed_name(std::string_view file, const std::string& text, Found& found) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) {
        pass_over(found, file, "is empty: it is being written, or the disk was full");
        return {};
    }
    auto name = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
    if (is_plain_name(name)) return name;
    pass_over(found, file,
              fmt::format("says \"{}\": not a name in this directory", base::printable(name, 100)));
    return {};
}

base::Expected<std::optional<Pointer>> read_pointer(Files& files, const std::string& file, Found& found) {
    const auto entry = files.entry(file);
    if (!entry) return entry.error();
    const auto text = files.text(file);
    if (!text) return text.error();
    if (!*entry || !*text) return std::optional<Pointer>{};
    Pointer pointer{pointed_name(file, **text, found), (*entry)->modified};
    if (!pointer.name) found.settled = false;
    return std::optional(std::move(pointer));
}

void take_pointed(Found& found, const std::string& name, std::optional<std::uint64_t> step,
                  const Judged& judged, base::Time written, std::uint64_t ranks) {
    if (!judged.flaw.empty()) {
        pass_over(found, name, judged.flaw);
        found.settled = false;
        return;
    }
    found.newest = to_whole(name, step, judged.weight, written);
    found.newest->ranks = ranks;
}

std::optional<std::uint64_t> step_of(std::string_view name) {
    constexpr std::string_view word = "step";
    for (auto at = name.rfind(word); at != std::string_view::npos;
         at = at == 0 ? std::string_view::npos : name.rfind(word, at - 1)) {
        const auto digits = name.find_first_not_of("=_-", at + word.size());
        if (digits != std::string_view::npos && is_digit(name[digits])) return number_at(name, digits);
    }
    // Not the 5 of "model_200.h5", nor the 0 of "samples=6400.0".
    if (const auto dot = name.rfind('.'); dot != std::string_view::npos && dot + 1 < name.size() &&
                                          std::isalpha(static_cast<unsigned char>(name[dot + 1])) != 0)
        name = name.substr(0, dot);
    auto end = name.size();
    while (end > 0 && !is_digit(name[end - 1]))
        --end;
    auto begin = end;
    while (begin > 0 && is_digit(name[begin - 1]))
        --begin;
    const bool fraction = begin > 1 && name[begin - 1] == '.' && is_digit(name[begin - 2]);
    return begin == end || fraction ? std::nullopt : number_at(name, begin);
}

Names by_step(Names names, Found& found) {
    std::erase_if(names, [&](const std::string& name) {
        if (is_plain_name(name)) return false;
        pass_over(found, name, "has a name that is not plain text: rename it");
        return true;
    });
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        return std::pair(step_of(a), a) > std::pair(step_of(b), b);
    });
    return names;
}

Weight weight_of(const Entry& file) {
    return {file.bytes, 1, file.begun(), file.modified, file.modified};
}

base::Expected<Weight> weigh(Files& files, const std::string& folder, unsigned depth) {
    Weight weight;
    if (auto ok = add(files, folder, depth, weight); !ok) return std::move(ok).error();
    return weight;
}

std::string flaw(const Weight& weight, base::Time said) {
    if (weight.files == 0) return "holds no file";
    if (!weight.empty.empty())
        return fmt::format("{} is empty: it is torn, as by a full disk", base::printable(weight.empty, 100));
    if (weight.last_shard && *weight.last_shard > said + clocks_differ)
        return "is being written again, or was since it was whole";
    return {};
}

Whole to_whole(std::string name, std::optional<std::uint64_t> step, const Weight& weight, base::Time done) {
    Whole whole{.name = std::move(name), .step = step};
    whole.done = done;
    whole.begun = std::min(weight.begun.value_or(done), done);
    whole.changed = std::min(weight.changed.value_or(done), done);
    whole.bytes = weight.bytes;
    whole.files = weight.files;
    whole.cut = weight.cut;
    return whole;
}

std::optional<std::vector<std::uint64_t>> numbers_after(std::string_view prefix, std::string_view name) {
    if (!name.starts_with(prefix)) return {};
    std::vector<std::uint64_t> numbers;
    for (auto at = prefix.size(); at <= name.size();) {
        const auto end = std::min(name.find('_', at), name.size());
        const auto part = name.substr(at, end - at);
        const auto number = base::parse_count(part);
        if (!number || numbers.size() == 4) return {};
        numbers.push_back(*number);
        at = end + 1;
    }
    return numbers;
}

bool is_grid(std::span<const std::vector<std::uint64_t>> shards, std::string& missing) {
    if (shards.empty()) return true;
    std::vector<std::set<std::uint64_t>> axes(shards.front().size());
    std::set<std::vector<std::uint64_t>> there;
    for (const auto& shard : shards) {
        if (shard.size() != axes.size()) {
            missing = "has shards of two layouts: of another number of ranks";
            return false;
        }
        for (std::size_t axis = 0; axis < axes.size(); ++axis)
            axes[axis].insert(shard[axis]);
        there.insert(shard);
    }
    std::size_t wanted = 1;
    for (const auto& axis : axes) {
        // From 0 on, or the first ones are missing. The number is untrusted: nothing is multiplied by it.
        if (*axis.rbegin() + 1 != axis.size()) wanted = 0;
        wanted *= axis.size();
    }
    if (wanted == there.size()) return true;
    missing = "shards of some ranks are missing, or are another number of ranks'";
    return false;
}

} // namespace restart::ckpt::kinds
