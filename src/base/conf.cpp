#include "base/conf.hpp"
#include "base/file.hpp"
#include "base/toml.hpp"
#include "base/units.hpp"

// toml++ asserts what bad text breaks ("[=]"), and then says what is wrong with it: the assertion must
// neither end the program nor be taken for a promise. conf.cpp and toml.cpp need the same settings.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
// Without exceptions, and where it is told the file's name, it ends the process when memory runs out.
#define TOML_EXCEPTIONS 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>

namespace base {

// Turns TOML nodes into checked values; knows the file's name for errors.
struct ConfReader {
    std::string file;
    Conf conf;

    Error error(const toml::node& at, std::string_view what) const {
        return {Code::input, fmt::format("{}:{}: {}", file, at.source().begin.line, what)};
    }

    Expected<Conf::Value> value(const Key& key, const toml::node& node) const {
        const auto wrong = [&] {
            return error(node, fmt::format("{}.{} must be {}", key.table, key.name, type_name(key.type)));
        };
        switch (key.type) {
        case KeyType::text:
            if (const auto* text = node.as_string()) return Conf::Value(text->get());
            return wrong();
        case KeyType::boolean:
            if (const auto* boolean = node.as_boolean()) return Conf::Value(boolean->get());
            return wrong();
        case KeyType::count:
            if (const auto* n = node.as_integer(); n && n->get() >= 0)
                return Conf::Value(static_cast<std::uint64_t>(n->get()));
            return wrong();
        case KeyType::number: {
            const auto number = node.value<double>();
            if (number && node.is_number() && *number >= 0 && *number < 1e15) return Conf::Value(*number);
            return wrong();
        }
        case KeyType::duration: {
            const auto* text = node.as_string();
            if (text == nullptr) return wrong();
            const auto duration = parse_duration(text->get());
            if (!duration)
                return error(node, fmt::format("{}.{}: {}", key.table, key.name, duration.error().text));
            return Conf::Value(*duration);
        }
        case KeyType::text_list: break;
        }
        const auto* array = node.as_array();
        if (array == nullptr) return wrong();
        std::vector<std::string> list;
        for (const auto& element : *array) {
            const auto* text = element.as_string();
            if (text == nullptr) return wrong();
            list.push_back(text->get());
        }
        return Conf::Value(std::move(list));
    }

    static std::string nearest(std::string_view table_name, std::string_view name) {
        std::string known;
        for (const auto& key : keys()) {
            if (key.table != table_name) continue;
            if (!known.empty()) known += ", ";
            known += key.name;
        }
        if (!known.empty())
            return fmt::format("unknown key {}.{}; [{}] has {}", table_name, name, table_name, known);
        for (const auto& key : keys())
            if (known.find(fmt::format("[{}]", key.table)) == std::string::npos)
                known += fmt::format("{}[{}]", known.empty() ? "" : ", ", key.table);
        return fmt::format("unknown table [{}]; there are {}", table_name, known);
    }

    Expected<void> read_table(std::string_view table, const toml::node& node) {
        const auto* members = node.as_table();
        if (members == nullptr)
            return error(
                node,
                fmt::format("{} stands outside any table: put it under a line such as [restartd]", table));
        if (std::none_of(keys().begin(), keys().end(), [&](const Key& key) { return key.table == table; }))
            return error(node, nearest(table, ""));
        for (const auto& [name, member] : *members) {
            const auto* key = find_key(table, name.str());
            if (key == nullptr) return error(member, nearest(table, name.str()));
            auto checked = value(*key, member);
            if (!checked) return std::move(checked).error();
            conf.values_.insert_or_assign(fmt::format("{}.{}", key->table, key->name), *std::move(checked));
        }
        return {};
    }

    Expected<void> read(std::string_view text, bool defaults_only) {
        const auto ascii = ascii_of(text);
        toml::table parsed;
        try {
            parsed = toml::parse(ascii);
            if (ascii != text) parsed = toml::parse(text);
        } catch (const toml::parse_error& wrong) {
            return Error{Code::input,
                         fmt::format("{}:{}: {}", file, wrong.source().begin.line, wrong.description())};
        }
        for (const auto& [name, node] : parsed) {
            if (auto done = read_table(name.str(), node); !done) return done;
        }
        if (!defaults_only) conf.file_ = file;
        return {};
    }
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
    static const Conf defaults = [] {
        ConfReader reader{"the table of keys", Conf(Empty{})};
        if (const auto done = reader.read(default_toml(), true); !done) {
            fmt::print(stderr, "{}\n", done.error().text); // a bug in keys.cpp; the unit test sees it first
            std::abort();
        }
        return reader.conf;
    }();
    *this = defaults;
}

Expected<Conf> Conf::from_text(std::string_view text, std::string_view file_name) {
    ConfReader reader{std::string(file_name), Conf()};
    if (auto done = reader.read(text, false); !done) return std::move(done).error();
    return std::move(reader.conf);
}

Expected<Conf> Conf::from_file(const std::filesystem::path& path) {
    const auto text = read_file(path, std::size_t{1} << 20);
    if (!text) return text.error();
    return from_text(*text, path.string());
}

const Conf::Value& Conf::get(std::string_view table, std::string_view name, KeyType type) const {
    const auto found = values_.find(fmt::format("{}.{}", table, name));
    const auto* key = find_key(table, name);
    if (found == values_.end() || key == nullptr || key->type != type) {
        fmt::print(stderr, "no configuration key {}.{} of that type\n", table, name);
        std::abort();
    }
    return found->second;
}

const std::string& Conf::text(std::string_view table, std::string_view name) const {
    return std::get<std::string>(get(table, name, KeyType::text));
}
bool Conf::boolean(std::string_view table, std::string_view name) const {
    return std::get<bool>(get(table, name, KeyType::boolean));
}
std::uint64_t Conf::count(std::string_view table, std::string_view name) const {
    return std::get<std::uint64_t>(get(table, name, KeyType::count));
}
double Conf::number(std::string_view table, std::string_view name) const {
    return std::get<double>(get(table, name, KeyType::number));
}
Duration Conf::duration(std::string_view table, std::string_view name) const {
    return std::get<Duration>(get(table, name, KeyType::duration));
}
const std::vector<std::string>& Conf::text_list(std::string_view table, std::string_view name) const {
    return std::get<std::vector<std::string>>(get(table, name, KeyType::text_list));
}

std::string Conf::print() const {
    struct Printer {
        std::string operator()(const std::string& v) const { return toml_text(v); }
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(std::uint64_t v) const { return fmt::format("{}", v); }
        std::string operator()(double v) const { return fmt::format("{}", v); }
        std::string operator()(Duration v) const { return toml_text(format_duration(v)); }
        std::string operator()(const std::vector<std::string>& v) const {
            std::string out;
            for (const auto& text : v)
                out += (out.empty() ? "" : ", ") + toml_text(text);
            return "[" + out + "]";
        }
        std::string operator()(const MayBeValueless&) const { return {}; }
    };
    std::string out, table;
    for (const auto& key : keys()) {
        if (key.table != table) out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", table = key.table);
        out += fmt::format("# {}{}{}\n", key.meaning, key.unit.empty() ? "" : " Unit: ", key.unit);
        out += fmt::format("{} = {}\n", key.name, std::visit(Printer{}, get(key.table, key.name, key.type)));
    }
    return out;
}

namespace {

constexpr auto usual_path = SYSCONFDIR "/railyard/railyard.conf";

} // namespace

std::filesystem::path conf_path(const std::string& option) {
    if (!option.empty()) return option;
    const char* named = std::getenv("RAILYARD_CONF");
    return named != nullptr && *named != '\0' ? named : usual_path;
}

Expected<Conf> load_conf(const std::string& option) {
    const auto path = conf_path(option);
    std::error_code ignored;
    if (path == usual_path && !std::filesystem::exists(path, ignored)) return Conf();
    return Conf::from_file(path);
}

} // namespace base
