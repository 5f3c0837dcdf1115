#include "topo/json_walk.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace topo {
namespace {

constexpr std::size_t block_size = 65536;

} // namespace

JsonWalk::JsonWalk(int fd) : fd_(fd), block_(block_size) {
    at_ = end_ = block_.data();
}

void JsonWalk::keep_seen() {
    if (kept_ == nullptr) return;
    kept_->append(kept_to_, at_);
    kept_to_ = at_;
    if (kept_->size() > longest_value) fail();
}

// The next block of the file; false at its end.
bool JsonWalk::more() {
    if (fd_ < 0 || failed_) return false;
    keep_seen();
    ssize_t n = 0;
    do
        n = ::pread(fd_, block_.data(), block_.size(), static_cast<off_t>(size_));
    while (n < 0 && errno == EINTR);
    if (n < 0) fail();
    if (n <= 0 || failed_) return false;
    at_ = kept_to_ = block_.data();
    end_ = at_ + n;
    size_ += static_cast<std::uint64_t>(n);
    digest_.add({at_, static_cast<std::size_t>(end_ - at_)});
    return true;
}

void JsonWalk::blanks() {
    for (int c = peek(); c == ' ' || c == '\n' || c == '\t' || c == '\r'; c = peek())
        ++at_;
}

bool JsonWalk::take(char c) {
    blanks();
    if (failed_ || peek() != static_cast<unsigned char>(c)) return false;
    ++at_;
    return true;
}

bool JsonWalk::past_string() {
    for (bool escaped = false; at_ != end_ || more();) {
        if (escaped) {
            escaped = false;
            ++at_;
            continue;
        }
        const auto left = static_cast<std::size_t>(end_ - at_);
        const auto* quote = static_cast<const char*>(std::memchr(at_, '"', left));
        const auto* slash = static_cast<const char*>(
            std::memchr(at_, '\\', quote == nullptr ? left : static_cast<std::size_t>(quote - at_)));
        escaped = slash != nullptr;
        at_ = escaped ? slash + 1 : quote != nullptr ? quote + 1 : end_;
        if (!escaped && quote != nullptr) return true;
    }
    return false;
}

bool JsonWalk::string(std::string& into) {
    if (!value(&into)) return false;
    if (into.size() < 2 || into.front() != '"' || into.back() != '"') {
        fail();
        return false;
    }
    into = into.substr(1, into.size() - 2);
    return true;
}

bool JsonWalk::value(std::string* into) {
    blanks();
    if (into != nullptr) into->clear();
    kept_ = into;
    kept_to_ = at_;
    bool whole = false;
    for (std::size_t depth = 0; !whole;) {
        const int c = peek();
        if (c < 0) {
            whole = depth == 0 && !failed_;
            break;
        }
        if (depth == 0 && (c == '}' || c == ']' || c == ',')) {
            whole = true;
            break;
        }
        ++at_;
        if (c == '"') {
            if (!past_string()) break;
            whole = depth == 0;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            whole = --depth == 0;
        } else if (c == ':' && depth == 0) {
            break; // a key's colon where a value ends: not JSON
        }
    }
    keep_seen();
    kept_ = nullptr;
    if (!whole) fail();
    return !failed_;
}

std::uint64_t JsonWalk::place() {
    blanks();
    return size_ - static_cast<std::uint64_t>(end_ - at_);
}

void JsonWalk::go_to(std::uint64_t place) {
    if (fd_ < 0) {
        at_ = end_ - size_ + place;
        return;
    }
    size_ = place;
    at_ = end_ = block_.data();
}

std::uint64_t JsonWalk::digest_to_end() {
    if (fd_ < 0) {
        auto digest = digest_;
        digest.add({end_ - size_, size_});
        return digest.value();
    }
    for (at_ = end_; more(); at_ = end_) {}
    return digest_.value();
}

} // namespace topo
