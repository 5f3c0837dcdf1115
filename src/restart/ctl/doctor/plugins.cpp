#include "restart/ctl/doctor/plugins.hpp"

#include "base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <glob.h>
#include <optional>
#include <sstream>

namespace restart::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_plugin = std::size_t{256} << 20;

// Structures of an ELF file, read only where they lie within it.
class Elf {
public:
    explicit Elf(std::string_view bytes) : bytes_(bytes) {}

    template <class T> std::optional<T> at(std::uint64_t offset) const {
        if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return {};
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    std::optional<Elf64_Shdr> section(const Elf64_Ehdr& head, std::uint64_t index) const {
        if (index >= head.e_shnum) return {};
        return at<Elf64_Shdr>(head.e_shoff + index * sizeof(Elf64_Shdr));
    }
    // Whether this text, with its end, is there.
    bool says(std::uint64_t offset, std::string_view text) const {
        return offset < bytes_.size() && bytes_.size() - offset > text.size() &&
               bytes_.substr(offset, text.size()) == text && bytes_[offset + text.size()] == '\0';
    }

private:
    std::string_view bytes_;
};

std::optional<std::uint32_t> plugin_version(std::string_view bytes) {
    const Elf elf(bytes);
    const auto head = elf.at<Elf64_Ehdr>(0);
    if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64)
        return {};
    for (std::uint64_t i = 0; i < head->e_shnum; ++i) {
        const auto table = elf.section(*head, i);
        if (!table || table->sh_type != SHT_DYNSYM) continue;
        const auto names = elf.section(*head, table->sh_link);
        if (!names) return {};
        for (std::uint64_t n = 0; n < table->sh_size / sizeof(Elf64_Sym); ++n) {
            const auto symbol = elf.at<Elf64_Sym>(table->sh_offset + n * sizeof(Elf64_Sym));
            if (!symbol) return {};
            if (!elf.says(names->sh_offset + symbol->st_name, "plugin_version")) continue;
            const auto home = elf.section(*head, symbol->st_shndx);
            if (!home || symbol->st_value < home->sh_addr) return {};
            return elf.at<std::uint32_t>(home->sh_offset + (symbol->st_value - home->sh_addr));
        }
    }
    return {};
}

std::vector<std::string> glob_files(const fs::path& pattern) {
    std::vector<std::string> files;
    glob_t found{};
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
        files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    return files;
}

// `within`: the files that include this one; one that includes itself is not followed.
void read_plugstack(const fs::path& path, std::vector<fs::path> within, std::vector<PlugstackLine>& into) {
    std::error_code ignored;
    const auto whole = fs::weakly_canonical(path, ignored);
    if (std::find(within.begin(), within.end(), whole) != within.end()) return;
    within.push_back(whole);
    const auto text = base::read_file(path.string());
    if (!text) return;
    std::istringstream lines(*text);
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string first, second;
        words >> first >> second;
        if (first == "include") {
            const fs::path pattern(second);
            for (const auto& file :
                 glob_files(pattern.is_absolute() ? pattern : path.parent_path() / pattern))
                read_plugstack(file, within, into);
        } else if ((first == "required" || first == "optional") &&
                   fs::path(second).filename() == "spank_rail.so") {
            into.push_back({fmt::format("{}:{}", path.string(), number), first == "required"});
        }
    }
}

} // namespace

base::Expected<std::string> built_for(const fs::path& plugin) {
    const auto bytes = base::read_file(plugin.string(), largest_plugin);
    if (!bytes) return bytes.error();
    const auto version = plugin_version(*bytes);
    if (!version)
        return base::Error{base::Code::input,
                           fmt::format("{}: no plugin of Slurm for this machine", plugin.string())};
    return fmt::format("{}.{:02}.{}", *version >> 16 & 0xff, *version >> 8 & 0xff, *version & 0xff);
}

std::vector<PluginFile> plugins_in(std::string_view plugin_dir) {
    std::vector<PluginFile> found;
    for (const char* name : {"select_rail", "topology_rail", "job_submit_rail", "spank_rail"}) {
        for (auto rest = plugin_dir; !rest.empty();) {
            const auto end = rest.find(':');
            const auto path = fs::path(rest.substr(0, end)) / (std::string(name) + ".so");
            rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
            std::error_code ignored;
            if (!fs::exists(path, ignored)) continue;
            found.push_back({name, path.string(), built_for(path).value_or("")});
            break;
        }
    }
    return found;
}

std::vector<PlugstackLine> spank_lines(const fs::path& plugstack) {
    std::vector<PlugstackLine> lines;
    read_plugstack(plugstack, {}, lines);
    return lines;
}

} // namespace restart::doctor
