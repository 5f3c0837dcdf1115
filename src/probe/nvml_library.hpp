// What NvmlGpus is made of: the loaded library, what is remembered of each GPU, and the questions to one. For
// nvml_gpus.cpp and nvml_asking.cpp alone.
#pragma once

#include "probe/nvml_abi.h"
#include "probe/nvml_gpus.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <dlfcn.h>
#include <fmt/format.h>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace probe {

// The loaded library, its functions and the GPUs found.
struct NvmlGpus::Library {
    ~Library() {
        if (events) calls.nvmlEventSetFree(events);
        for (const auto& gpu : gpus)
            for (auto* counters : {gpu.activity.before, gpu.activity.now})
                if (counters) calls.nvmlGpmSampleFree(counters);
        if (started) calls.nvmlShutdown();
        if (handle) ::dlclose(handle);
    }

    // A sample in so many also has what is asked seldom, in so many the times, which cost most, and in so
    // many the power limit.
    static constexpr int samples_between = 10, samples_between_times = 40, samples_between_limits = 400;

    // A count that is asked so seldom that what it grew by may have come at any moment since: that is handed
    // on evenly over as many samples, so that who looks at a short while sees no more than came in one.
    class Handed {
    public:
        void ask(std::optional<std::uint64_t> count, int samples_since) {
            const auto before = std::exchange(count_, count);
            if (!count || !before || *count < *before) {
                late_ = 0;
            } else if (samples_since > samples_between) {
                late_ += *count - *before;
                part_ = late_ / static_cast<std::uint64_t>(samples_since) + 1;
            }
        }
        // With each sample.
        std::optional<std::uint64_t> next() {
            late_ -= std::min(late_, part_);
            return count_ ? std::optional(*count_ - late_) : std::nullopt;
        }

    private:
        std::optional<std::uint64_t> count_;
        std::uint64_t late_ = 0, part_ = 0; // not handed on yet; of it with a sample
    };

    // What a GPU that is used really does, by GPM, whose counters cost two milliseconds to read.
    struct Activity {
        // Samples that the first value is a mean of, and later ones, also while it surely works.
        static constexpr int first = 10, between = 40, between_works = 120;
        static constexpr double surely_works = 0.35; // of its power limit, as restart::work_of has it
        // After so many below that they are read anew, unless they were with one of the last ones.
        static constexpr int doubts_that_count = 3, rest = 30;
        nvmlGpmSample_t before = nullptr, now = nullptr; // null: the GPU or the driver has none
        bool filled = false;                             // `before` has counters
        int read = 0, next = 0;                          // with which sample, and when again
        int doubts = 0;                                  // samples in a row
        std::optional<double> sm{}, tensor{};
    };

    struct Gpu {
        nvmlDevice_t device = nullptr;
        std::string pci; // nobody changes it: wait_xids reads it beside sample
        GpuSample last;
        GpuSample seldom, times; // what is asked seldom, as of the last time
        int times_asked = 0;     // with which sample
        Handed power, thermal, sw_thermal, hw_thermal, brake;
        Activity activity;
        std::optional<std::uint32_t> limit_mw{}; // of its power, which operators set

        void take_times(int sample) {
            const auto since = sample - std::exchange(times_asked, sample);
            power.ask(times.power_violation_ms, since);
            thermal.ask(times.thermal_violation_ms, since);
            sw_thermal.ask(times.sw_thermal_ms, since);
            hw_thermal.ask(times.hw_thermal_ms, since);
            brake.ask(times.power_brake_ms, since);
        }
        void hand_times(GpuSample& into) {
            into.power_violation_ms = power.next();
            into.thermal_violation_ms = thermal.next();
            into.sw_thermal_ms = sw_thermal.next();
            into.hw_thermal_ms = hw_thermal.next();
            into.power_brake_ms = brake.next();
            into.unseen.insert(into.unseen.end(), times.unseen.begin(), times.unseen.end());
        }
    };

    base::Expected<void> load(const std::string& name);
    base::Expected<void> start();
    // Who computes on it: how many processes, and as many of them as there is room for.
    struct Processes {
        unsigned count = 0;
        std::array<nvmlProcessInfo_t, 64> some{};
    };
    std::optional<Processes> processes_of(nvmlDevice_t device) const;
    // Absent: not known of each.
    std::optional<std::vector<std::uint32_t>> users_of(nvmlDevice_t device) const;
    // Makes room for its counters, where it has some.
    void prepare(Activity& activity, nvmlDevice_t device) const;
    // Whether this GPU's XIDs will come as events.
    bool register_events(nvmlDevice_t device) const;
    std::string words(nvmlReturn_t result) const {
        return fmt::format("NVML: {} ({})", error_string ? error_string(result) : "error", result);
    }

    void* handle = nullptr;
    struct {
#define RAILYARD_NVML_MEMBER(name, parameters) name##_fn* name = nullptr;
        RAILYARD_NVML_FUNCTIONS(RAILYARD_NVML_MEMBER)
#undef RAILYARD_NVML_MEMBER
    } calls;
    nvmlErrorString_fn* error_string = nullptr;
    bool started = false;
    int samples = 0;
    std::atomic<bool> stirred = false; // an event says that something asked seldom has changed
    std::vector<Gpu> gpus;
    nvmlEventSet_t events = nullptr;
    std::atomic<bool> has_xid_events = false;
};

// One question: its answer goes into the sample, a refusal among what cannot be seen.
struct NvmlGpus::Asking {
    const Library& library;
    nvmlDevice_t device;
    GpuSample& into;

    bool answered(std::string_view what, nvmlReturn_t result) const;
    template <class Function, class Number>
    void number(std::string_view what, Function* function, std::optional<Number>& answer) const {
        unsigned value = 0;
        if (function && answered(what, function(device, &value))) answer = value;
    }

    // What NVML keeps itself, and answers within a microsecond.
    void now() const;
    // What it asks the driver for at each call, which costs a third of a millisecond together.
    void seldom() const {
        pcie();
        nvlink_fields();
        links();
        fabric();
        into.users = library.users_of(device);
    }
    // Likewise, and two milliseconds.
    void times() const {
        time_fields();
        violations();
    }
    void pcie() const;
    // What new drivers give in one call, by the places of the fields that are asked; empty: they do not.
    struct Field {
        unsigned id = 0, scope = 0;
    };
    std::vector<nvmlFieldValue_t> fields(std::initializer_list<Field> wanted) const;
    std::optional<std::uint64_t> value(const nvmlFieldValue_t& field, std::string_view what) const;
    void nvlink_fields() const;
    void time_fields() const;
    // Links that are up; and their counters, where there are no fields of them.
    void links() const;
    // The older way, where there are no fields of them.
    void violations() const;
    std::optional<nvmlGpuFabricInfo_v2_t> fabric_info() const;
    void fabric() const;
    void power_limit(std::optional<std::uint32_t>& limit) const {
        limit.reset();
        number("power limit", library.calls.nvmlDeviceGetEnforcedPowerLimit, limit);
    }
    // Of the GPU as now() has seen it; `sample`: the number of this one, `place` of the GPU.
    void activity(Library::Activity& of, int sample, int place) const;
    void compare(Library::Activity& of) const;
};

} // namespace probe
