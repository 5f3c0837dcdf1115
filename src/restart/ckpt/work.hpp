// The owner of checkpoints: a job, or work outside of any job, which has no number that identifies it.
#pragma once

#include "base/expected.hpp"
#include "base/job_id.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restart::ckpt {

struct Work {
    std::optional<base::JobId> job{}; // none: outside of any job

    constexpr Work() = default;
    constexpr Work(base::JobId of) : job(of) {} // NOLINT: a job's work
    // A number in the source code; 0: outside of any job.
    consteval Work(int number) { // NOLINT: means what it says
        if (number < 0) throw "a job's number is above 0";
        if (number > 0) job.emplace(static_cast<unsigned>(number));
    }

    explicit operator bool() const { return job.has_value(); }
    bool operator==(const Work&) const = default;
    bool operator==(std::integral auto number) const { return job ? *job == number : number == 0; }
};

// The form used in files and options: "12", "12[3]", and "0" outside of any job.
std::string to_string(const Work& work);
// Nothing for any other text.
std::optional<Work> parse_work(std::string_view text);
// From a C caller's number. Error (Code::usage): below 0; `option` is its name.
base::Expected<Work> work_of(std::int64_t number, std::string_view option);

} // namespace restart::ckpt
