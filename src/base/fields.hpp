// Reads a document with required members in straight-line code: the first error is kept and returned once at
// the end.
#pragma once

#include "base/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

class Fields {
public:
    explicit Fields(std::optional<Error>& failed) : failed_(&failed) {}

    std::string text(const Reader& from, std::string_view key) { return keep(from.text(key), std::string()); }
    double number(const Reader& from, std::string_view key) { return keep(from.number(key), 0.0); }
    std::int64_t integer(const Reader& from, std::string_view key) {
        return keep(from.integer(key), std::int64_t{0});
    }
    bool boolean(const Reader& from, std::string_view key) { return keep(from.boolean(key), false); }
    std::vector<Reader> items(const Reader& from, std::string_view key) {
        auto at = from.at(key);
        if (!at) return keep(Expected<std::vector<Reader>>(std::move(at).error()), std::vector<Reader>());
        return keep(at->items(), std::vector<Reader>());
    }
    std::vector<std::string> texts(const Reader& from, std::string_view key) {
        std::vector<std::string> list;
        for (const auto& item : items(from, key))
            list.push_back(keep(item.text(), std::string()));
        return list;
    }
    // A member that may be absent or null.
    std::optional<Reader> object(const Reader& from, std::string_view key) {
        if (!from.has(key)) return {};
        auto at = from.at(key);
        if (!at) return {};
        return *std::move(at);
    }

    // The value, or `other` when it is an error.
    template <class T> T keep(Expected<T> value, T other) {
        if (value) return *std::move(value);
        if (!*failed_) *failed_ = std::move(value).error();
        return other;
    }

private:
    std::optional<Error>* failed_;
};

} // namespace base
