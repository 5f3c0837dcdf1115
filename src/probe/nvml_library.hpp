// The parts of NvmlGpus: the loaded library, the state kept for each GPU, and the queries of one GPU. Only
// for nvml_gpus.cpp and nvml_asking.cpp.
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

    // Samples between rare queries, between readings of the times, the most expensive, and of the power
    // limit.
    static constexpr int samples_between = 10, samples_between_times = 40, samples_between_limits = 400;

    // A counter read so rarely that its increase may have happened at any moment since: it is spread evenly
    // over as many samples, so a reader of a short interval sees one sample's share.
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
        // Called once in each sample.
        std::optional<std::uint64_t> next() {
            late_ -= std::min(late_, part_);
            return count_ ? std::optional(*count_ - late_) : std::nullopt;
        }

    private:
        std::optional<std::uint64_t> count_;
        std::uint64_t late_ = 0, part_ = 0; // not yet passed on; share of each sample
    };

    // The actual work of a GPU in use, by GPM, whose counters take two milliseconds to read.
    struct Activity {
        // Samples averaged for the first value, for later ones, and for later ones while it clearly works.
        static constexpr int first = 10, between = 40, between_works = 120;
        static constexpr double surely_works = 0.35; // share of its power limit, as in restart::work_of
        // After this many samples below that, they are read again, unless read within the last `rest`.
        static constexpr int doubts_that_count = 3, rest = 30;
        nvmlGpmSample_t before = nullptr, now = nullptr; // null: not supported by the GPU or driver
        bool filled = false;                             // `before` contains counters
        int read = 0, next = 0;                          // sample of the last reading, and of the next
        int doubts = 0;                                  // consecutive samples
        std::optional<double> sm{}, tensor{};
    };

    struct Gpu {
        nvmlDevice_t device = nullptr;
        std::string pci; // never changes: wait_xids reads it concurrently with sample
        GpuSample last;
        GpuSample seldom, times; // results of the rare queries, as last read
        int times_asked = 0;     // in which sample
        Handed power, thermal, sw_thermal, hw_thermal, brake;
        Activity activity;
        std::optional<std::uint32_t> limit_mw{}; // power limit, set by operators

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
    // The processes that compute on it: their number, and as many of them as fit.
    struct Processes {
        unsigned count = 0;
        std::array<nvmlProcessInfo_t, 64> some{};
    };
    std::optional<Processes> processes_of(nvmlDevice_t device) const;
    // Absent: not known for all processes.
    std::optional<std::vector<std::uint32_t>> users_of(nvmlDevice_t device) const;
    // Allocates its counters, if the GPU has any.
    void prepare(Activity& activity, nvmlDevice_t device) const;
    // Whether this GPU's XIDs will arrive as events.
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
    std::atomic<bool> stirred = false; // an event reported that a rarely queried value has changed
    std::vector<Gpu> gpus;
    nvmlEventSet_t events = nullptr;
    std::atomic<bool> has_xid_events = false;
};

// One query: its answer is stored in the sample, an error in the sample's list of unseen values.
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

    // Values that NVML caches and returns within a microsecond.
    void now() const;
    // Queries for which NVML calls the driver each time; together they take a third of a millisecond.
    void seldom() const {
        pcie();
        nvlink_fields();
        links();
        fabric();
        into.users = library.users_of(device);
    }
    // The same, but two milliseconds.
    void times() const {
        time_fields();
        violations();
    }
    void pcie() const;
    // Values that newer drivers return in one call, in the order of the requested fields; empty: not
    // supported.
    struct Field {
        unsigned id = 0, scope = 0;
    };
    std::vector<nvmlFieldValue_t> fields(std::initializer_list<Field> wanted) const;
    std::optional<std::uint64_t> value(const nvmlFieldValue_t& field, std::string_view what) const;
    void nvlink_fields() const;
    void time_fields() const;
    // Counts active links; and reads their counters, if there are no fields for them.
    void links() const;
    // The older interface, if there are no fields for them.
    void violations() const;
    std::optional<nvmlGpuFabricInfo_v2_t> fabric_info() const;
    void fabric() const;
    void power_limit(std::optional<std::uint32_t>& limit) const {
        limit.reset();
        number("power limit", library.calls.nvmlDeviceGetEnforcedPowerLimit, limit);
    }
    // For the GPU as seen by now(); `sample`: the number of this sample, `place`: that of the GPU.
    void activity(Library::Activity& of, int sample, int place) const;
    void compare(Library::Activity& of) const;
};

} // namespace probe
