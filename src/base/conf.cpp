#include "base/conf.hpp"

#include "base/file.hpp"
#include "base/toml.hpp"
#include "base/units.hpp"
#include "railyard_paths.h"

// toml++ asserts on malformed text ("[=]") before it reports the error. This must not end the program, nor be
// an assumption for the compiler. conf.cpp and toml.cpp need the same settings.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
// Without exceptions, or when given a file name, toml++ terminates the process when memory runs out.
#define TOML_EXCEPTIONS 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <type_traits>

namespace base {

// Turns TOML nodes into checked values; keeps the file's name for errors.
class ConfReader {
public:
    ConfReader(std::string_view file, Conf defaults, ConfTables needs)
        : file_(file), conf_(std::move(defaults)), needs_(needs) {}

    Expected<Conf> read(std::string_view text) {
        const auto ascii = ascii_of(text);
        toml::table parsed;
        try {
            parsed = toml::parse(ascii);
            if (ascii != text) parsed = toml::parse(text);
        } catch (const toml::parse_error& wrong) {
            return error(wrong.source().begin.line, wrong.description());
        }
        for (const auto& [name, node] : parsed)
            if (auto done = read_table(name.str(), node); !done) return std::move(done).error();
        for (const auto& key : keys())
            if (auto done = compare(key); !done) return std::move(done).error();
        conf_.file = file_;
        return std::move(conf_);
    }

    // The initial values, before any file is read.
    static Conf defaults(std::string_view text) {
        auto conf = ConfReader("the table of keys", Conf(Conf::Empty{}), {}).read(text);
        if (!conf) {
            fmt::print(stderr, "{}\n", conf.error().text); // a bug in keys.cpp; the unit test sees it first
            std::abort();
        }
        conf->file.clear();
        return *std::move(conf);
    }

private:
    Error error(std::uint32_t line, std::string_view what) const {
        return {Code::input, fmt::format("{}:{}: {}", file_, line, what)};
    }
    static std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

    Error wrong_type(const Key& key, const toml::node& node) const {
        return error(line_of(node),
                     fmt::format("{}.{} must be {}", key.table, key.name, type_name(key.type)));
    }
    Error wrong_value(const Key& key, std::uint32_t line, std::string_view what) const {
        return error(line, fmt::format("{}.{}: {}", key.table, key.name, what));
    }

    Expected<std::string> value(const Key& key, const toml::node& node, const std::string*) const {
        if (const auto* text = node.as_string()) return text->get();
        return wrong_type(key, node);
    }
    Expected<bool> value(const Key& key, const toml::node& node, const bool*) const {
        if (const auto* boolean = node.as_boolean()) return boolean->get();
        return wrong_type(key, node);
    }
    Expected<std::uint64_t> value(const Key& key, const toml::node& node, const std::uint64_t*) const {
        if (const auto* n = node.as_integer(); n && n->get() >= 0)
            return static_cast<std::uint64_t>(n->get());
        return wrong_type(key, node);
    }
    Expected<double> value(const Key& key, const toml::node& node, const double*) const {
        if (const auto number = node.value<double>(); number && node.is_number()) return *number;
        return wrong_type(key, node);
    }
    Expected<Duration> value(const Key& key, const toml::node& node, const Duration*) const {
        const auto* text = node.as_string();
        if (text == nullptr) return wrong_type(key, node);
        const auto duration = parse_duration(text->get());
        if (!duration) return wrong_value(key, line_of(node), duration.error().text);
        return *duration;
    }

    // Stores the value, unless it is out of bounds and its table is not needed.
    template <class T> Expected<void> fill(const Key& key, const toml::node& node, T* member) {
        auto read = value(key, node, member);
        if (!read) return std::move(read).error();
        if constexpr (!std::is_same_v<T, bool>)
            if (const auto why = key.bounds.reject(*read)) {
                if (!needs_.has(key.in)) return {};
                return wrong_value(key, line_of(node), *why);
            }
        *member = *std::move(read);
        return {};
    }
    Expected<void> fill(const Key& key, const toml::node& node, std::vector<std::string>* member) {
        const auto* array = node.as_array();
        if (key.bounds.form == Bounds::Form::url) { // at least one; a single one is a list, too
            if (node.is_string()) {
                std::string one;
                if (auto done = fill(key, node, &one); !done) return done;
                if (!one.empty()) *member = {std::move(one)};
                return {};
            }
            if (array != nullptr && array->empty())
                return wrong_value(key, line_of(node), "is empty: name at least one address");
        }
        if (array == nullptr) return wrong_type(key, node);
        std::vector<std::string> list;
        for (const auto& element : *array) {
            const auto* text = element.as_string();
            if (text == nullptr) return wrong_type(key, node);
            if (const auto why = key.bounds.reject(text->get())) {
                if (!needs_.has(key.in)) return {};
                return wrong_value(key, line_of(element), *why);
            }
            list.push_back(text->get());
        }
        *member = std::move(list);
        return {};
    }

    static std::string known(std::string_view table_name, std::string_view name) {
        std::string list;
        for (const auto& key : keys()) {
            if (key.table != table_name) continue;
            if (!list.empty()) list += ", ";
            list += key.name;
        }
        if (!list.empty())
            return fmt::format("unknown key {}.{}; [{}] has {}", table_name, name, table_name, list);
        for (const auto& key : keys())
            if (list.find(fmt::format("[{}]", key.table)) == std::string::npos)
                list += fmt::format("{}[{}]", list.empty() ? "" : ", ", key.table);
        return fmt::format("unknown table [{}]; there are {}", table_name, list);
    }

    Expected<void> read_table(std::string_view table, const toml::node& node) {
        const auto* members = node.as_table();
        if (members == nullptr)
            return error(
                line_of(node),
                fmt::format("{} stands outside any table: put it under a line such as [restartd]", table));
        if (std::none_of(keys().begin(), keys().end(), [&](const Key& key) { return key.table == table; }))
            return error(line_of(node), known(table, ""));
        for (const auto& [name, member] : *members) {
            const auto* key = find_key(table, name.str());
            if (key == nullptr) return error(line_of(member), known(table, name.str()));
            auto done = std::visit([&, &given = member](auto* slot) { return fill(*key, given, slot); },
                                   key->slot(conf_));
            if (!done) return done;
            lines_[key] = line_of(member);
        }
        return {};
    }

    // Two keys that must not cross. The error names the line of the key that is in the file.
    Expected<void> compare(const Key& key) {
        if (key.bounds.not_below.empty() || !needs_.has(key.in)) return {};
        const auto& other = *find_key(key.table, key.bounds.not_below);
        const auto high = *std::get<Duration*>(key.slot(conf_)),
                   low = *std::get<Duration*>(other.slot(conf_));
        if (high >= low) return {};
        const auto here = lines_.find(&key), there = lines_.find(&other);
        if (here == lines_.end())
            return wrong_value(other, there->second,
                               fmt::format("{} is above {}.{}, {}", format_duration(low), key.table, key.name,
                                           format_duration(high)));
        return wrong_value(key, here->second,
                           fmt::format("{} is below {}.{}, {}", format_duration(high), key.table, other.name,
                                       format_duration(low)));
    }

    std::string file_;
    Conf conf_;
    ConfTables needs_;
    std::map<const Key*, std::uint32_t> lines_; // of the keys that are in the file
};

namespace {

std::string default_toml() {
    std::string text, table;
    for (const auto& key : keys()) {
        if (key.table != table) text += fmt::format("[{}]\n", table = key.table);
        text += fmt::format("{} = {}\n", key.name, key.default_text);
    }
    return text;
}

std::string toml_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            out += c;
    }
    return out + '"';
}

} // namespace

Conf::Conf() {
    static const Conf defaults = ConfReader::defaults(default_toml());
    *this = defaults;
}

Expected<Conf> Conf::from_text(std::string_view text, std::string_view file_name, ConfTables needs) {
    return ConfReader(file_name, Conf(), needs).read(text);
}

Expected<Conf> Conf::from_file(const std::filesystem::path& path, ConfTables needs) {
    const auto text = read_file(path, std::size_t{1} << 20);
    if (!text) return text.error();
    return from_text(*text, path.string(), needs);
}

std::string Conf::print() const {
    struct Printer {
        std::string operator()(const std::string* v) const { return toml_text(*v); }
        std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
        std::string operator()(const std::uint64_t* v) const { return fmt::format("{}", *v); }
        std::string operator()(const double* v) const { return fmt::format("{}", *v); }
        std::string operator()(const Duration* v) const { return toml_text(format_duration(*v)); }
        std::string operator()(const std::vector<std::string>* v) const {
            std::string out;
            for (const auto& text : *v)
                out += (out.empty() ? "" : ", ") + toml_text(text);
            return "[" + out + "]";
        }
    };
    auto values = *this; // Slot is non-const
    std::string out, table;
    for (const auto& key : keys()) {
        if (key.table != table) out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", table = key.table);
        const auto more = bounds_and_unit(key);
        out +=
            fmt::format("# {}{}{}{}\n", key.meaning, more.empty() ? "" : " (", more, more.empty() ? "" : ")");
        out += fmt::format("{} = {}\n", key.name, std::visit(Printer{}, key.slot(values)));
    }
    return out;
}

namespace {

constexpr std::string_view usual_path = SYSCONFDIR "/railyard/railyard.conf";
// Where programs built with another prefix look.
constexpr std::string_view other_paths[] = {"/etc/railyard/railyard.conf",
                                            "/usr/local/etc/railyard/railyard.conf",
                                            "/usr/etc/railyard/railyard.conf"};

} // namespace

std::filesystem::path conf_path(const std::string& option) {
    if (!option.empty()) return option;
    const char* named = std::getenv("RAILYARD_CONF");
    return named != nullptr && *named != '\0' ? std::filesystem::path(named) : usual_path;
}

Expected<Conf> load_conf(const std::string& option, ConfTables needs) {
    const auto path = conf_path(option);
    std::error_code ignored;
    if (path == usual_path && !std::filesystem::exists(path, ignored)) return Conf();
    return Conf::from_file(path, needs);
}

std::string source_of(const Conf& conf) {
    if (!conf.file.empty()) return fmt::format("configuration: {}", conf.file.string());
    std::string text = fmt::format("configuration: there is no {}, all keys have their default", usual_path);
    std::error_code ignored;
    for (const auto other : other_paths)
        if (other != usual_path && std::filesystem::exists(other, ignored))
            text += fmt::format("; {} is not read: this program was built for {} (--config reads it)", other,
                                usual_path);
    return text;
}

} // namespace base
