// railckpt.h on top of Session. No exception leaves these functions.
#include "restart/ckpt/railckpt.h"

#include "restart/ckpt/marks.hpp"
#include "restart/ckpt/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>

using namespace restart::ckpt;
using restart::Seconds;

struct railckpt {
    Session session;
    std::string message{};
    std::string path{};               // handed out by begin or latest
    bool verified = false;            // latest has read every byte once
    std::optional<Seconds> blocked{}; // for the checkpoint in progress
};

struct railckpt_marks {
    Marks marks;
};

namespace {

thread_local std::string open_message;

int status_of(base::Code code) {
    switch (code) {
    case base::Code::usage: return RAILCKPT_EUSAGE;
    case base::Code::input: return RAILCKPT_ECORRUPT;
    case base::Code::not_found: return RAILCKPT_ENOENT;
    case base::Code::unfit: return RAILCKPT_EEXIST;
    case base::Code::denied: return RAILCKPT_EFENCED;
    case base::Code::unavailable: return RAILCKPT_EBUSY;
    case base::Code::io: return RAILCKPT_EIO;
    case base::Code::internal: break;
    }
    return RAILCKPT_EINTERNAL;
}

int fail(std::string& message, base::Error error) {
    message = std::move(error.text);
    return status_of(error.code);
}

// Runs `body` with an empty message; an exception (out of memory) becomes a status.
template <class Body> int guarded(std::string& message, Body body) noexcept {
    try {
        message.clear();
        return body();
    } catch (const std::exception& failed) {
        try {
            message = failed.what();
        } catch (...) {
            message.clear();
        }
    } catch (...) {}
    return RAILCKPT_EINTERNAL;
}

void append(std::string& message, const std::string& text) {
    if (!message.empty()) message += "; ";
    message += text;
}

// A later release may add members; an older caller's struct is read and written only up to its size.
constexpr std::size_t least_options = offsetof(railckpt_options, take_over),
                      least_info = sizeof(railckpt_info);

base::Expected<Given> given_by(const railckpt_options* options) {
    Given given;
    if (options == nullptr) return given;
    if (options->size < least_options)
        return base::Error{base::Code::usage,
                           "railckpt_options.size is wrong: start from RAILCKPT_OPTIONS_INIT"};
    if (options->dir != nullptr) given.dir = options->dir;
    if (options->socket != nullptr) given.socket = options->socket;
    if (options->job != -1) {
        const auto job = work_of(options->job, "job");
        if (!job) return job.error();
        given.job = *job;
    }
    if (options->restart != -1) given.restart = options->restart;
    if (options->keep != 0) given.keep = options->keep;
    if (options->interval_s != 0) given.interval = Seconds{options->interval_s};
    if (options->mtbf_s != 0) given.mtbf = Seconds{options->mtbf_s};
    given.read_only = options->read_only != 0;
    if (options->size >= sizeof *options && options->take_over != -1) {
        const auto owner = work_of(options->take_over, "take_over");
        if (!owner) return owner.error();
        given.take_over = *owner;
    }
    return given;
}

} // namespace

int railckpt_open(const railckpt_options* options, railckpt** out) {
    return guarded(open_message, [&] {
        if (out == nullptr) return fail(open_message, {base::Code::usage, "railckpt_open: out is NULL"});
        *out = nullptr;
        const auto given = given_by(options);
        if (!given) return fail(open_message, given.error());
        const auto resolved =
            resolve(*given, [](const char* name) -> const char* { return std::getenv(name); });
        if (!resolved) return fail(open_message, resolved.error());
        auto session = Session::open(*resolved);
        if (!session) return fail(open_message, std::move(session).error());
        auto notice = session->notice();
        *out = new railckpt{std::move(*session), std::move(notice)};
        return int{RAILCKPT_OK};
    });
}

void railckpt_close(railckpt* ck) {
    delete ck;
}

int railckpt_due(railckpt* ck) {
    if (ck == nullptr) return RAILCKPT_EUSAGE;
    return guarded(ck->message, [&] {
        const auto verdict = ck->session.due();
        ck->message = to_sentence(verdict);
        if (!ck->session.agent_trouble().empty()) append(ck->message, ck->session.agent_trouble());
        return verdict.due() ? 1 : 0;
    });
}

double railckpt_interval(const railckpt* ck) {
    return ck == nullptr ? double{RAILCKPT_EUSAGE} : ck->session.interval().length.count();
}

int railckpt_begin(railckpt* ck, uint64_t step, const char** path) {
    if (ck == nullptr) return RAILCKPT_EUSAGE;
    return guarded(ck->message, [&] {
        if (path == nullptr) return fail(ck->message, {base::Code::usage, "railckpt_begin: path is NULL"});
        *path = nullptr;
        const auto stage = ck->session.begin(step);
        if (!stage) return fail(ck->message, stage.error());
        ck->path = stage->string();
        *path = ck->path.c_str();
        return int{RAILCKPT_OK};
    });
}

int railckpt_blocked(railckpt* ck, double seconds) {
    if (ck == nullptr) return RAILCKPT_EUSAGE;
    return guarded(ck->message, [&] {
        if (!(seconds >= 0 && seconds <= 1e6))
            return fail(ck->message,
                        {base::Code::usage, fmt::format("railckpt_blocked: {} s: a time from 0 to "
                                                        "1000000 s is wanted",
                                                        seconds)});
        if (!ck->session.begun())
            return fail(ck->message,
                        {base::Code::usage, "no checkpoint is begun: begin comes before blocked"});
        ck->blocked = Seconds{seconds};
        return int{RAILCKPT_OK};
    });
}

int railckpt_commit(railckpt* ck) {
    if (ck == nullptr) return RAILCKPT_EUSAGE;
    return guarded(ck->message, [&] {
        const auto published = ck->session.commit({{}, std::exchange(ck->blocked, std::nullopt)});
        if (!published) return fail(ck->message, published.error());
        for (const auto& trouble : ck->session.commit_troubles())
            append(ck->message, trouble);
        return int{RAILCKPT_OK};
    });
}

int railckpt_abort(railckpt* ck) {
    if (ck == nullptr) return RAILCKPT_EUSAGE;
    return guarded(ck->message, [&] {
        ck->blocked.reset();
        const auto removed = ck->session.abort();
        return removed ? int{RAILCKPT_OK} : fail(ck->message, removed.error());
    });
}

int railckpt_latest(railckpt* ck, railckpt_info* info) {
    if (ck == nullptr) return RAILCKPT_EUSAGE;
    return guarded(ck->message, [&] {
        if (info == nullptr || info->size < least_info)
            return fail(
                ck->message,
                {base::Code::usage,
                 "railckpt_latest: info is NULL or its size is wrong: start from RAILCKPT_INFO_INIT"});
        const auto latest = ck->session.latest(ck->verified ? Depth::sizes : Depth::checksums);
        if (!latest) return fail(ck->message, latest.error());
        ck->verified = true;
        for (const auto& damage : latest->skipped)
            append(ck->message, damage + ": passed over");
        if (const auto ahead = ahead_sentence(*latest); !ahead.empty()) append(ck->message, ahead);
        info->skipped = static_cast<unsigned>(latest->skipped.size());
        info->path = nullptr;
        if (!latest->newest) return int{RAILCKPT_NONE};
        const auto& manifest = latest->newest->manifest;
        ck->path = latest->newest->path.string();
        info->path = ck->path.c_str();
        info->step = manifest.id.step;
        info->epoch = manifest.id.epoch;
        info->files = static_cast<unsigned>(manifest.files.size());
        info->bytes = manifest.bytes();
        info->time_s = manifest.time_s;
        info->cost_s = manifest.cost_s;
        return int{RAILCKPT_OK};
    });
}

int railckpt_marks_open(railckpt_marks** out) {
    return guarded(open_message, [&] {
        if (out == nullptr)
            return fail(open_message, {base::Code::usage, "railckpt_marks_open: out is NULL"});
        *out = nullptr;
        auto marks = Marks::open([](const char* name) -> const char* { return std::getenv(name); });
        if (!marks) return fail(open_message, std::move(marks).error());
        *out = new railckpt_marks{*std::move(marks)};
        return int{RAILCKPT_OK};
    });
}

int railckpt_mark(railckpt_marks* marks, double waited_s) {
    if (marks == nullptr) return RAILCKPT_EUSAGE;
    std::string nobody_reads_it;
    return guarded(nobody_reads_it, [&] {
        static_cast<void>(marks->marks.step(waited_s).has_value()); // the job continues without an agent
        return int{RAILCKPT_OK};
    });
}

void railckpt_marks_close(railckpt_marks* marks) {
    delete marks;
}

const char* railckpt_message(const railckpt* ck) {
    return ck == nullptr ? open_message.c_str() : ck->message.c_str();
}

const char* railckpt_strerror(int status) {
    switch (status) {
    case 1: return "there is no valid checkpoint, or one is due";
    case RAILCKPT_OK: return "done";
    case RAILCKPT_EUSAGE: return "wrong argument, environment variable or order of calls";
    case RAILCKPT_ECORRUPT: return "a file of the checkpoint directory is damaged";
    case RAILCKPT_ENOENT: return "the checkpoint directory does not exist";
    case RAILCKPT_EFENCED: return "fenced off: a later incarnation of the job owns the directory";
    case RAILCKPT_EBUSY: return "another process is writing a checkpoint";
    case RAILCKPT_EEXIST: return "this step has been committed before";
    case RAILCKPT_EIO: return "the operating system refused";
    case RAILCKPT_EINTERNAL: return "out of memory, or a bug in librailckpt";
    default: return "not a status of librailckpt";
    }
}
