#include "restart/ckpt/options.hpp"

#include "base/units.hpp"
#include "restart/ckpt/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace restart::ckpt {
namespace {

using base::Code;
using base::Error;
using base::Expected;

class Environment {
public:
    explicit Environment(const Getenv& getenv) : getenv_(getenv) {}

    std::optional<std::string> text(const char* name) const {
        const char* value = getenv_(name);
        if (value == nullptr || *value == '\0') return {};
        return std::string(value);
    }

    // A whole number up to `most`.
    Expected<std::optional<std::uint64_t>> count(const char* name, std::uint64_t most) const {
        const auto value = text(name);
        if (!value) return std::optional<std::uint64_t>{};
        const auto number = base::parse_count(*value);
        if (!number || *number > most)
            return Error{Code::usage,
                         fmt::format("environment variable {}=\"{}\": a whole number up to {} is wanted",
                                     name, *value, most)};
        return std::optional<std::uint64_t>(*number);
    }

    Expected<std::optional<Work>> work(const char* name) const {
        const auto value = text(name);
        if (!value) return std::optional<Work>{};
        auto work = parse_work(*value);
        if (!work)
            return Error{Code::usage,
                         fmt::format("environment variable {}=\"{}\": a whole number up to {} is wanted",
                                     name, *value, base::JobId::most)};
        return work;
    }

    Expected<std::optional<Seconds>> time(const char* name) const {
        const auto value = text(name);
        if (!value) return std::optional<Seconds>{};
        auto seconds = parse_time(*value);
        if (!seconds) return std::move(seconds).error().within(fmt::format("environment variable {}", name));
        return std::optional<Seconds>(*seconds);
    }

private:
    const Getenv& getenv_;
};

Error out_of_range(std::string_view option, double value, std::string_view wanted) {
    return {Code::usage, fmt::format("option {} = {}: {} is wanted", option, value, wanted)};
}

Expected<void> check_time(std::string_view option, const std::optional<Seconds>& value) {
    if (!value || (std::isfinite(value->count()) && value->count() > 0)) return {};
    return out_of_range(option, value->count(), "a number of seconds above 0");
}

bool is_word(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7f; });
}

// Checks the program's values, before the environment is read.
Expected<void> check(const Given& given) {
    if (given.dir && given.dir->empty())
        return Error{Code::usage, "option dir is empty: name the checkpoint directory"};
    if (given.restart && (*given.restart < 0 || *given.restart > max_epoch))
        return out_of_range("restart", static_cast<double>(*given.restart), "a count from 0 to 9999");
    if (given.keep && (*given.keep == 0 || *given.keep > std::numeric_limits<unsigned>::max()))
        return out_of_range("keep", static_cast<double>(*given.keep), "a number of checkpoints from 1");
    if (auto ok = check_time("interval", given.interval); !ok) return ok;
    return check_time("mtbf", given.mtbf);
}

} // namespace

Expected<Seconds> parse_time(std::string_view text) {
    auto seconds = base::parse_number(text);
    if (!seconds) {
        const auto duration = base::parse_duration(text);
        if (!duration)
            return Error{
                Code::usage,
                fmt::format("\"{}\" is not a time: write seconds, or a number with ms, s, m, h or d", text)};
        seconds = base::to_seconds(*duration);
    }
    if (*seconds <= 0) return Error{Code::usage, fmt::format("\"{}\" is not above 0", text)};
    return Seconds{*seconds};
}

std::string launch_text(const Work& job, std::uint32_t restart, std::uint32_t epoch) {
    return fmt::format("{} {} {}", to_string(job), restart, epoch);
}

std::optional<std::uint32_t> launch_epoch(std::string_view text, const Work& job, std::uint32_t restart) {
    const auto whose = fmt::format("{} {} ", to_string(job), restart);
    if (!job || !text.starts_with(whose)) return {};
    const auto epoch = base::parse_count(text.substr(whose.size()));
    if (!epoch || *epoch > max_epoch) return {};
    return static_cast<std::uint32_t>(*epoch);
}

Expected<Options> resolve(const Given& given, const Getenv& getenv) {
    if (auto ok = check(given); !ok) return std::move(ok).error();
    const Environment environment(getenv);
    // A job of another resource manager: rail-lsf-run sets its number.
    const bool other = !environment.text("SLURM_JOB_ID") && environment.text("RAIL_JOB_ID");
    const auto job = environment.work(other ? "RAIL_JOB_ID" : "SLURM_JOB_ID");
    if (!job) return job.error();
    const auto restart = environment.count(other ? "RAIL_RESTART_COUNT" : "SLURM_RESTART_COUNT", max_epoch);
    if (!restart) return restart.error();
    const auto take_over = environment.work("RAIL_CKPT_TAKE_OVER");
    if (!take_over) return take_over.error();
    const auto cluster = environment.text("SLURM_CLUSTER_NAME").value_or("");
    if (!is_word(cluster))
        return Error{Code::usage, "environment variable SLURM_CLUSTER_NAME: a name without blanks is wanted"};
    const auto keep = environment.count("RAIL_CKPT_KEEP", std::numeric_limits<unsigned>::max());
    if (!keep) return keep.error();
    if (*keep == 0u)
        return Error{Code::usage, "environment variable RAIL_CKPT_KEEP=\"0\": at least 1 checkpoint is kept"};
    const auto interval = environment.time("RAIL_CKPT_INTERVAL"), mtbf = environment.time("RAIL_CKPT_MTBF");
    if (!interval) return interval.error();
    if (!mtbf) return mtbf.error();

    Options options;
    const auto dir = given.dir ? given.dir : environment.text("RAIL_CKPT_DIR");
    if (!dir)
        return Error{Code::usage,
                     "no checkpoint directory: set RAIL_CKPT_DIR (sbatch --ckpt-dir=DIR does), or name it"};
    options.dir = *dir;
    options.socket = given.socket ? *given.socket : environment.text("RAIL_CKPT_SOCKET").value_or("");
    options.job = given.job.value_or(job->value_or(Work()));
    options.restart = static_cast<std::uint32_t>(given.restart ? static_cast<std::uint64_t>(*given.restart)
                                                               : restart->value_or(0));
    if (const auto own = environment.text("RAIL_CKPT_DIR"); own && *own == options.dir)
        if (const auto launch = environment.text("RAIL_CKPT_LAUNCH"))
            options.launch = launch_epoch(*launch, options.job, options.restart);
    // Work outside of any job has no cluster.
    if (options.job) options.cluster = cluster;
    options.lsf = other;
    options.take_over = given.take_over ? given.take_over : *take_over;
    options.keep = static_cast<unsigned>(given.keep ? *given.keep : keep->value_or(options.keep));
    options.interval = given.interval ? given.interval : *interval;
    options.mtbf = given.mtbf.value_or(mtbf->value_or(options.mtbf));
    options.read_only = given.read_only;
    return options;
}

} // namespace restart::ckpt
