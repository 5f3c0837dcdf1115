// A job's number in its resource manager: Slurm's 32 bits, or LSF's with the index of an array element. As
// text "12" and "12[3]"; Slurm's "12_3" or "12+1" are not accepted.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace base {

class JobId {
public:
    // The value of a member until it is filled in. It names no job. It never means "no job": that is an empty
    // std::optional.
    constexpr JobId() = default;
    // `number`: at least 1, at most `most`; `index` 0: not an array element.
    template <std::unsigned_integral N>
    constexpr explicit JobId(N number, std::uint32_t index = 0) : number_(number), index_(index) {}
    // A number written in the source.
    consteval JobId(int number) : number_(static_cast<std::uint64_t>(number)) { // NOLINT: implicit on purpose
        if (number <= 0) throw "a job's number is above 0";
    }

    static constexpr std::uint64_t most = INT64_MAX;

    // Nothing for any other text.
    static std::optional<JobId> parse(std::string_view text);

    constexpr std::uint64_t number() const { return number_; }
    constexpr std::uint32_t index() const { return index_; }

    constexpr auto operator<=>(const JobId&) const = default;
    constexpr bool operator==(const JobId&) const = default;
    // Whether it is exactly this number.
    constexpr bool operator==(std::integral auto number) const {
        return index_ == 0 && std::cmp_equal(number_, number);
    }

private:
    std::uint64_t number_ = 0;
    std::uint32_t index_ = 0;
};

// Deleted: 0 does not mean "no job".
bool operator==(const std::optional<JobId>& job, std::integral auto number) = delete;

std::string to_string(JobId job);

} // namespace base

template <> struct std::hash<base::JobId> {
    std::size_t operator()(const base::JobId& job) const noexcept {
        // Both indices and numbers are consecutive: combinations must not collide.
        return std::hash<std::uint64_t>()(job.number() ^ (std::uint64_t{job.index()} << 40));
    }
};
