// Expected<T>: a value or an Error; the return type of everything that can fail.
//
// A small subset of C++23's std::expected with the error type fixed. Accessing the side that is not there is
// a bug and aborts. Only third-party libraries throw exceptions; they are caught at the call.
#pragma once

#include "base/error.hpp"

#include <cstdlib>
#include <utility>
#include <variant>

namespace base {

template <class T> class [[nodiscard]] Expected {
public:
    Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    bool has_value() const { return state_.index() == 0; }

    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(value()); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    T& value() {
        if (!has_value()) std::abort();
        return *std::get_if<0>(&state_);
    }
    const T& value() const {
        if (!has_value()) std::abort();
        return *std::get_if<0>(&state_);
    }
    T value_or(T other) const { return has_value() ? value() : std::move(other); }

    Error& error() & {
        if (has_value()) std::abort();
        return *std::get_if<1>(&state_);
    }
    const Error& error() const& {
        if (has_value()) std::abort();
        return *std::get_if<1>(&state_);
    }
    Error&& error() && { return std::move(error()); }

private:
    std::variant<T, Error> state_;
};

// Expected<void>: success, or an Error. `return {};` is success.
template <> class [[nodiscard]] Expected<void> {
public:
    Expected() = default;
    Expected(Error error) : error_(std::move(error)), failed_(true) {}

    explicit operator bool() const { return !failed_; }
    bool has_value() const { return !failed_; }
    Error& error() & {
        if (!failed_) std::abort();
        return error_;
    }
    const Error& error() const& {
        if (!failed_) std::abort();
        return error_;
    }
    Error&& error() && { return std::move(error()); }

private:
    Error error_;
    bool failed_ = false;
};

} // namespace base
