#include "topo/read/yaml.hpp"

#include "topo/read/raw_fabric.hpp"
#include "topo/read/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr int most_levels = 32;

// A line without indentation and comment. "- a: 1" becomes "-" and, further right, "a: 1": a Piece each.
struct Piece {
    std::size_t indent = 0;
    std::string_view text;
    std::uint32_t line = 0;
    bool dash = false;
};

struct Bad {
    std::uint32_t line;
    std::string text;
};

// The text up to a comment: '#' at the front or after white space, outside quotes.
std::string_view uncommented(std::string_view text) {
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != '\0') {
            if (c == '\\' && quote == '"')
                ++i;
            else if (c == quote)
                quote = '\0';
        } else if ((c == '"' || c == '\'') &&
                   (i == 0 || std::string_view(" \t[,:-").find(text[i - 1]) != std::string_view::npos)) {
            quote = c;
        } else if (c == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t')) {
            return text.substr(0, i);
        }
    }
    return text;
}

class YamlReader {
public:
    Yaml read(std::string_view text) {
        split(text);
        if (pieces_.empty()) throw Bad{1, "the document is empty"};
        auto root = block(pieces_[0].indent, 0);
        if (next_ < pieces_.size()) throw Bad{pieces_[next_].line, "less indentation than anything above"};
        return root;
    }

private:
    void split(std::string_view text) {
        Lines lines(text);
        std::string_view line;
        bool begun = false;
        while (lines.next(line)) {
            const auto number = lines.number();
            if (line == "---" && !begun) continue;
            if (line == "---" || line == "...") {
                while (lines.next(line))
                    if (!trimmed(uncommented(line)).empty()) throw Bad{lines.number(), "a second document"};
                return;
            }
            auto rest = trimmed(uncommented(line));
            if (rest.empty() || (rest.front() == '%' && !begun)) continue;
            begun = true;
            const auto space = line.find_first_not_of(' ');
            if (line[space] == '\t') throw Bad{number, "a tab in the indentation"};
            auto indent = space;
            int dashes = 0;
            while (rest == "-" || rest.starts_with("- ")) {
                if (++dashes > most_levels) throw Bad{number, "lists too deep inside each other"};
                pieces_.push_back({indent, {}, number, true});
                rest.remove_prefix(1);
                const auto gap = std::min(rest.find_first_not_of(" \t"), rest.size());
                rest.remove_prefix(gap);
                indent += 1 + gap;
            }
            if (!rest.empty()) pieces_.push_back({indent, rest, number, false});
        }
    }

    Yaml block(std::size_t indent, int level) {
        const Piece& first = pieces_[next_];
        if (level > most_levels) throw Bad{first.line, "more than 32 levels"};
        Yaml value;
        value.line = first.line;
        if (first.dash) {
            value.kind = Yaml::Kind::list;
            while (next_ < pieces_.size() && pieces_[next_].indent == indent && pieces_[next_].dash) {
                const auto line = pieces_[next_++].line;
                value.items.push_back(below(indent + 1, line, level));
            }
        } else if (key_end(first.text) != std::string_view::npos) {
            value.kind = Yaml::Kind::map;
            read_map(value, indent, level);
        } else {
            value = inline_value(first.text, first.line);
            ++next_;
        }
        if (next_ < pieces_.size() && pieces_[next_].indent > indent)
            throw Bad{pieces_[next_].line, "more indentation than what is above allows"};
        if (next_ < pieces_.size() && pieces_[next_].indent == indent && value.kind != Yaml::Kind::map &&
            !(value.kind == Yaml::Kind::list && !pieces_[next_].dash))
            throw Bad{pieces_[next_].line,
                      fmt::format("'{}' does not continue what is above", shown(pieces_[next_].text))};
        return value;
    }

    void read_map(Yaml& value, std::size_t indent, int level) {
        std::unordered_set<std::string> seen;
        while (next_ < pieces_.size() && pieces_[next_].indent == indent) {
            const Piece piece = pieces_[next_];
            if (piece.dash) throw Bad{piece.line, "a list item where a key is wanted"};
            const auto end = key_end(piece.text);
            if (end == std::string_view::npos)
                throw Bad{piece.line, fmt::format("'{}': a key and ':' are wanted", shown(piece.text))};
            auto key = inline_value(trimmed(piece.text.substr(0, end)), piece.line);
            if (key.kind != Yaml::Kind::scalar || key.text.empty()) throw Bad{piece.line, "the key is empty"};
            if (!seen.insert(key.text).second)
                throw Bad{piece.line, fmt::format("key '{}' stands twice", shown(key.text))};
            ++next_;
            const auto rest = trimmed(piece.text.substr(end + 1));
            if (!rest.empty()) {
                value.keys.push_back(key.text);
                value.items.push_back(inline_value(rest, piece.line));
                continue;
            }
            // A list may stand as far left as its key.
            const bool list =
                next_ < pieces_.size() && pieces_[next_].dash && pieces_[next_].indent == indent;
            value.keys.push_back(key.text);
            value.items.push_back(below(list ? indent : indent + 1, piece.line, level));
        }
    }

    // What stands at least so far right, or nothing.
    Yaml below(std::size_t indent, std::uint32_t line, int level) {
        if (next_ < pieces_.size() && pieces_[next_].indent >= indent)
            return block(pieces_[next_].indent, level + 1);
        Yaml nothing;
        nothing.line = line;
        return nothing;
    }

    // Where the ':' after a key stands.
    static std::size_t key_end(std::string_view text) {
        std::size_t from = 0;
        if (text.front() == '"' || text.front() == '\'') {
            const auto close = text.find(text.front(), 1);
            if (close == std::string_view::npos) return close;
            from = close + 1;
            return from < text.size() && text[from] == ':' ? from : std::string_view::npos;
        }
        if (text.front() == '[') return std::string_view::npos;
        for (auto at = text.find(':'); at != std::string_view::npos; at = text.find(':', at + 1))
            if (at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\t') return at;
        return std::string_view::npos;
    }

    static std::string shown(std::string_view text) { return printable(text.substr(0, 40)); }

    Yaml inline_value(std::string_view text, std::uint32_t line) const {
        Yaml value;
        value.line = line;
        if (text.starts_with('[')) {
            value.kind = Yaml::Kind::list;
            if (!text.ends_with(']'))
                throw Bad{line, fmt::format("'{}': a closing ] is wanted in this line", shown(text))};
            auto rest = trimmed(text.substr(1, text.size() - 2));
            while (!rest.empty()) {
                const auto end = item_end(rest, line);
                const auto item = trimmed(rest.substr(0, end));
                if (item.empty()) throw Bad{line, "an empty item in brackets"};
                if (item.front() == '[') throw Bad{line, "brackets in brackets are not read"};
                value.items.push_back(inline_value(item, line));
                if (end == rest.size()) break;
                rest = trimmed(rest.substr(end + 1));
            }
            return value;
        }
        if (text.starts_with('"') || text.starts_with('\'')) {
            value.text = unquoted(text, line);
            return value;
        }
        if (std::string_view("&*!|>{}%@`").find(text.front()) != std::string_view::npos)
            throw Bad{
                line,
                fmt::format("'{}': anchors, tags, block scalars and braces are not read; write plain keys "
                            "and values",
                            shown(text))};
        value.text = text == "null" || text == "~" ? std::string_view() : text;
        return value;
    }

    // Of a list in brackets: the comma after the first item, or its end; host lists have brackets of their
    // own.
    static std::size_t item_end(std::string_view text, std::uint32_t line) {
        int depth = 0;
        if (text.front() == '"' || text.front() == '\'') {
            const auto close = text.find(text.front(), 1);
            if (close == std::string_view::npos) throw Bad{line, "a closing quote is wanted"};
            const auto comma = text.find(',', close);
            return std::min(comma, text.size());
        }
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '[') ++depth;
            if (text[i] == ']') --depth;
            if (text[i] == ',' && depth <= 0) return i;
        }
        return text.size();
    }

    static std::string unquoted(std::string_view text, std::uint32_t line) {
        const char quote = text.front();
        std::string out;
        for (std::size_t i = 1; i < text.size(); ++i) {
            if (text[i] == quote && quote == '\'' && i + 1 < text.size() && text[i + 1] == quote) {
                out += text[i++];
            } else if (text[i] == quote) {
                if (i + 1 != text.size())
                    throw Bad{line, fmt::format("'{}' after the closing quote", shown(text.substr(i + 1)))};
                return out;
            } else if (text[i] == '\\' && quote == '"') {
                if (i + 1 == text.size() || (text[i + 1] != '"' && text[i + 1] != '\\'))
                    throw Bad{line, "escapes other than \\\" and \\\\ are not read"};
                out += text[++i];
            } else {
                out += text[i];
            }
        }
        throw Bad{line, "a closing quote is wanted"};
    }

    std::vector<Piece> pieces_;
    std::size_t next_ = 0;
};

} // namespace

const Yaml* Yaml::find(std::string_view key) const {
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

Expected<Yaml> parse_yaml(std::string_view text, std::string_view name) {
    try {
        return YamlReader().read(text);
    } catch (const Bad& bad) {
        return Error{Code::input, fmt::format("{}:{}: {}", name, bad.line, bad.text)};
    }
}

} // namespace topo
