#include "topo/read/yaml.hpp"

#include "topo/read/raw_fabric.hpp"
#include "topo/read/text.hpp"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <unordered_set>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr int most_levels = 32;

// Thrown only in this file.
struct Bad {
    std::size_t line; // from 1
    std::string text;
};

std::size_t line_of(const yaml_mark_t& mark) {
    return mark.line + 1;
}

class Event {
public:
    explicit Event(yaml_parser_t& parser) {
        if (yaml_parser_parse(&parser, &event_) != 0) return;
        // The scanner's own text: its context, and the problem.
        const std::string problem = parser.problem == nullptr ? "not YAML" : parser.problem;
        const auto mark = parser.error == YAML_READER_ERROR ? parser.mark : parser.problem_mark;
        throw Bad{line_of(mark),
                  parser.context == nullptr ? problem : fmt::format("{} {}", parser.context, problem)};
    }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { yaml_event_delete(&event_); }

    yaml_event_type_t type() const { return event_.type; }
    std::size_t line() const { return line_of(event_.start_mark); }
    const yaml_event_t* operator->() const { return &event_; }

private:
    yaml_event_t event_{};
};

class YamlReader {
public:
    explicit YamlReader(std::string_view text) {
        if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size());
    }
    YamlReader(const YamlReader&) = delete;
    YamlReader& operator=(const YamlReader&) = delete;
    ~YamlReader() { yaml_parser_delete(&parser_); }

    Yaml read() {
        expect(YAML_STREAM_START_EVENT, "");
        if (const Event start(parser_); start.type() == YAML_STREAM_END_EVENT)
            throw Bad{start.line(), "the document is empty"};
        auto root = value(Event(parser_), 0);
        expect(YAML_DOCUMENT_END_EVENT, "");
        expect(YAML_STREAM_END_EVENT, "a second document");
        return root;
    }

private:
    void expect(yaml_event_type_t wanted, std::string_view otherwise) {
        const Event event(parser_);
        if (event.type() != wanted) throw Bad{event.line(), std::string(otherwise)};
    }

    Yaml value(const Event& event, int level) {
        if (level > most_levels)
            throw Bad{event.line(), fmt::format("more than {} levels inside each other", most_levels)};
        Yaml value;
        value.line = static_cast<std::uint32_t>(event.line());
        switch (event.type()) {
        case YAML_SCALAR_EVENT: {
            const auto& scalar = event->data.scalar;
            plain(event, scalar.anchor, scalar.tag);
            value.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
            const bool nothing = value.text == "null" || value.text == "~";
            if (nothing && scalar.style == YAML_PLAIN_SCALAR_STYLE) value.text.clear();
            break;
        }
        case YAML_SEQUENCE_START_EVENT:
            plain(event, event->data.sequence_start.anchor, event->data.sequence_start.tag);
            value.kind = Yaml::Kind::list;
            for (;;) {
                const Event item(parser_);
                if (item.type() == YAML_SEQUENCE_END_EVENT) break;
                value.items.push_back(this->value(item, level + 1));
            }
            break;
        case YAML_MAPPING_START_EVENT:
            plain(event, event->data.mapping_start.anchor, event->data.mapping_start.tag);
            value.kind = Yaml::Kind::map;
            read_map(value, level);
            break;
        default: throw Bad{event.line(), "aliases are not read: write the value itself"};
        }
        return value;
    }

    void read_map(Yaml& map, int level) {
        std::unordered_set<std::string> seen;
        for (;;) {
            const Event first(parser_);
            if (first.type() == YAML_MAPPING_END_EVENT) return;
            const auto key = value(first, level + 1);
            if (key.kind != Yaml::Kind::scalar || key.text.empty())
                throw Bad{key.line, "a key must be a word"};
            if (!seen.insert(key.text).second)
                throw Bad{key.line,
                          fmt::format("key '{}' stands twice", trimmed_printable(key.text.substr(0, 40)))};
            map.keys.push_back(key.text);
            map.items.push_back(value(Event(parser_), level + 1));
        }
    }

    static void plain(const Event& event, const unsigned char* anchor, const unsigned char* tag) {
        if (anchor != nullptr) throw Bad{event.line(), "anchors are not read: write plain values"};
        if (tag != nullptr) throw Bad{event.line(), "tags are not read: write plain values"};
    }

    yaml_parser_t parser_{};
};

} // namespace

const Yaml* Yaml::find(std::string_view key) const {
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

Expected<Yaml> parse_yaml(std::string_view text, std::string_view name) {
    try {
        return YamlReader(text).read();
    } catch (const Bad& bad) {
        return Error{Code::input, fmt::format("{}:{}: {}", name, bad.line, bad.text)};
    }
}

} // namespace topo
