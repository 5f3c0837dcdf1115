// Walks JSON text by its brackets and strings only: from memory, or in pieces from a file of any size; at
// most one block and the requested value are in memory at a time.
#pragma once

#include "base/fnv.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace topo {

class JsonWalk {
public:
    explicit JsonWalk(std::string_view text)
        : at_(text.data()), end_(at_ + text.size()), size_(text.size()) {}
    // Reads the file from its beginning; the caller keeps ownership of `fd`.
    explicit JsonWalk(int fd);

    // The text is not valid JSON, a value is longer than `longest_value`, or the file could not be read.
    bool failed() const { return failed_; }
    static constexpr std::size_t longest_value = std::size_t{1} << 22;

    // Skips blanks; true and past it if `c` is next.
    bool take(char c);
    // The text of a string without its quotes, escapes unchanged.
    bool string(std::string& into);
    // Skips any value; its text is stored if `into` is given.
    bool value(std::string* into);

    // Calls visit(text of the element) for each element of an array, until it returns false; the rest is
    // skipped.
    template <class Visit> void elements(Visit visit) {
        if (!take('[')) return fail();
        if (take(']')) return;
        bool wanted = true;
        std::string element;
        do {
            if (!value(wanted ? &element : nullptr)) return;
            wanted = wanted && visit(std::string_view(element));
        } while (take(','));
        if (!take(']')) fail();
    }

    // Offset from the beginning, after any blanks; and back to such an offset.
    std::uint64_t place();
    void go_to(std::uint64_t place);

    // Reads to the end of the text, and returns its hash (FNV-1a, 64 bits), if go_to() was not called.
    std::uint64_t digest_to_end();

private:
    bool more();
    int peek() { return at_ != end_ || more() ? static_cast<unsigned char>(*at_) : -1; }
    void blanks();
    bool past_string(); // from after the opening quote to after the closing one
    void keep_seen();
    void fail() { failed_ = true; }

    const char* at_ = nullptr;
    const char* end_ = nullptr;
    std::uint64_t size_ = 0; // up to `end_`
    int fd_ = -1;            // -1: from memory
    std::vector<char> block_;
    base::Fnv1a digest_;
    std::string* kept_ = nullptr;   // for the value that is being read,
    const char* kept_to_ = nullptr; // up to here
    bool failed_ = false;
};

} // namespace topo
