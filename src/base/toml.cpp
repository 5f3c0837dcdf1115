#include "base/toml.hpp"

// toml++ asserts on malformed text ("[=]") before it reports the error. This must not end the program, nor be
// an assumption for the compiler. conf.cpp and toml.cpp need the same settings.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
// Without exceptions, or when given a file name, toml++ terminates the process when memory runs out.
#define TOML_EXCEPTIONS 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

namespace base {
namespace {

class TomlReader {
public:
    explicit TomlReader(std::string_view file) : file_(file) {}

    Expected<std::vector<TomlTable>> read(std::string_view text) {
        const auto ascii = ascii_of(text);
        toml::table parsed;
        try {
            parsed = toml::parse(ascii);
            if (ascii != text) parsed = toml::parse(text);
        } catch (const toml::parse_error& wrong) {
            return Error{Code::input,
                         fmt::format("{}:{}: {}", file_, wrong.source().begin.line, wrong.description())};
        }
        for (const auto& [name, node] : parsed)
            if (auto done = add(name.str(), node); !done) return std::move(done).error();
        std::stable_sort(tables_.begin(), tables_.end(),
                         [](const TomlTable& a, const TomlTable& b) { return a.line < b.line; });
        return std::move(tables_);
    }

private:
    Error error(const toml::node& at, std::string_view what) const {
        return {Code::input, fmt::format("{}:{}: {}", file_, line(at), what)};
    }
    static std::uint32_t line(const toml::node& at) { return at.source().begin.line; }

    Expected<void> add(std::string_view name, const toml::node& node) {
        if (const auto* table = node.as_table()) return add_table(name, *table);
        const auto* array = node.as_array();
        if (array == nullptr || array->empty() ||
            !std::all_of(array->begin(), array->end(), [](const auto& e) { return e.is_table(); }))
            return error(node, fmt::format("{} stands outside any table", name));
        for (const auto& element : *array)
            if (auto done = add_table(name, *element.as_table()); !done) return done;
        return {};
    }

    Expected<void> add_table(std::string_view name, const toml::table& table) {
        TomlTable& mine = tables_.emplace_back();
        mine.name = name;
        mine.line = line(table);
        std::vector<TomlValue> values;
        for (const auto& [key, node] : table) {
            auto value = read_value(key.str(), node);
            if (!value) return std::move(value).error();
            values.push_back(*std::move(value));
        }
        std::stable_sort(values.begin(), values.end(),
                         [](const TomlValue& a, const TomlValue& b) { return a.line < b.line; });
        mine.values = std::move(values);
        return {};
    }

    Expected<TomlValue> read_value(std::string_view key, const toml::node& node) const {
        TomlValue value{std::string(key), line(node), {}};
        if (const auto* text = node.as_string()) {
            value.value = text->get();
        } else if (const auto* number = node.as_integer()) {
            value.value = number->get();
        } else if (const auto* fraction = node.as_floating_point()) {
            value.value = fraction->get();
        } else if (const auto* boolean = node.as_boolean()) {
            value.value = boolean->get();
        } else if (const auto* array = node.as_array()) {
            std::vector<std::string> list;
            for (const auto& element : *array) {
                const auto* item = element.as_string();
                if (item == nullptr)
                    return error(element, fmt::format("{}: a list of strings is wanted", key));
                list.push_back(item->get());
            }
            value.value = std::move(list);
        } else {
            return error(node, fmt::format("{}: a string, a number, true, false or a list of strings is "
                                           "wanted",
                                           key));
        }
        return value;
    }

    std::string file_;
    std::vector<TomlTable> tables_;
};

} // namespace

std::string ascii_of(std::string_view text) {
    std::string ascii(text);
    std::replace_if(
        ascii.begin(), ascii.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    return ascii;
}

Expected<std::vector<TomlTable>> parse_toml(std::string_view text, std::string_view file) {
    return TomlReader(file).read(text);
}

} // namespace base
