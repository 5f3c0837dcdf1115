// A job by the number its resource manager gives it: Slurm's 32 bits, or LSF's with, of an array's element,
// its index. As text "12" and "12[3]"; a Slurm name such as "12_3" or "12+1" is none.
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
    // What a member holds until it is filled in. It names no job and never stands for the absence of one,
    // which is an empty std::optional.
    constexpr JobId() = default;
    // `number` at least 1, at most `most`; `index` 0: no element of an array.
    template <std::unsigned_integral N>
    constexpr explicit JobId(N number, std::uint32_t index = 0) : number_(number), index_(index) {}
    // A number that stands in the source.
    consteval JobId(int number) : number_(static_cast<std::uint64_t>(number)) { // NOLINT: means what it says
        if (number <= 0) throw "a job's number is above 0";
    }

    static constexpr std::uint64_t most = INT64_MAX;

    // Nothing for any other text.
    static std::optional<JobId> parse(std::string_view text);

    constexpr std::uint64_t number() const { return number_; }
    constexpr std::uint32_t index() const { return index_; }

    constexpr auto operator<=>(const JobId&) const = default;
    constexpr bool operator==(const JobId&) const = default;
    // Whether it is just this number.
    constexpr bool operator==(std::integral auto number) const {
        return index_ == 0 && std::cmp_equal(number_, number);
    }

private:
    std::uint64_t number_ = 0;
    std::uint32_t index_ = 0;
};

// Whether there is a job is not asked with 0.
bool operator==(const std::optional<JobId>& job, std::integral auto number) = delete;

std::string to_string(JobId job);

} // namespace base

template <> struct std::hash<base::JobId> {
    std::size_t operator()(const base::JobId& job) const noexcept {
        // Indices in a row, numbers in a row: neither may fall onto the other.
        return std::hash<std::uint64_t>()(job.number() ^ (std::uint64_t{job.index()} << 40));
    }
};
