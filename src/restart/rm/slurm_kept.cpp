#include "restart/rm/slurm_kept.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/rm/slurm_owned.hpp"
#include "restart/rm/slurm_reading.hpp"
#include "restart/rm/slurm_requests.hpp"
#include "restart/rm/slurm_waiting.hpp"
#include "sched/slurm/admin_comment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

namespace restart {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using namespace std::chrono_literals;

constexpr std::size_t most_at_once = 16;  // files written in one look, because reports and actions wait
constexpr auto remembered = 1h;           // after slurmctld has forgotten it
constexpr auto success_remembered = 300s; // MinJobAge's default
constexpr auto asked_for = 30s;           // for accounting, how a job ended
constexpr base::Duration ask_pause{2'000}, ask_patience{5'000};
constexpr std::size_t most_asked = 100;

std::string seconds_of(base::Time time) {
    return std::to_string(time.time_since_epoch() / 1s);
}

base::Time time_in(const SlurmSubmission& job, std::string_view name) {
    return time_of(static_cast<std::time_t>(job.number(name)));
}

// Identifies the start that a job replaces, for ever: job numbers are reused.
std::string tag_of(const SlurmSubmission& job) {
    return fmt::format("{}.{} {}", job.word("job"), job.word("epoch"), job.word("submitted"));
}

const job_info_t* with_tag(std::span<const job_info_t> jobs, std::string_view tag) {
    const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const job_info_t& job) {
        return job.admin_comment != nullptr && sched::part_in(job.admin_comment, sched::again_label) == tag;
    });
    return found == jobs.end() ? nullptr : &*found;
}

bool runs(const job_info_t& job) {
    return (job.job_state & JOB_STATE_BASE) == JOB_RUNNING && (job.job_state & JOB_CONFIGURING) == 0;
}

bool is_part_of_another(const job_info_t& job) {
    return job.het_job_id != 0 && job.het_job_offset != 0;
}

bool has_accounting(const slurm_conf_t* conf) {
    return conf != nullptr && text_of(conf->accounting_storage_type) == "accounting_storage/slurmdbd";
}

// It is known how it ended.
bool is_understood(const SlurmSubmission& job) {
    return job.words.contains("end_time");
}

// An empty value removes it.
void set(SlurmSubmission& job, const std::map<std::string, std::string>& words) {
    for (const auto& [name, value] : words)
        if (value.empty())
            job.words.erase(name);
        else
            job.words[name] = value;
}

// Turns the submission's values into those of the new job.
void make_over(SlurmSubmission& job, const SubmitAgain& action) {
    const auto record = record_of(job);
    WaitingChange change{action.job.id, action.exclude, {}, action.exclude, action.comment};
    change.unasked.push_back(action.job.host);
    auto texts = texts_of(change, record);
    auto admin = job.word("admin_comment");
    for (const auto label : {sched::why_label, sched::had_label, sched::preempted_label})
        admin = sched::with_part(admin, label, {});
    admin = sched::with_part(admin, sched::again_label, tag_of(job));
    const auto held = action.hold ? "; scontrol release starts it, scancel drops it" : "";
    admin = sched::with_part(admin, sched::told_label,
                             fmt::format("in the place of job {}, which slurmctld had forgotten: {}{}",
                                         job.word("job"), action.comment, held));
    job.words["admin_comment"] = std::move(admin);
    if (texts.excluded) job.words["exc_nodes"] = *std::move(texts.excluded);
    if (texts.required) job.words["req_nodes"] = *std::move(texts.required);
    if (texts.comment) job.words["comment"] = *std::move(texts.comment);
    // The folder of checkpoints belongs to the old job, which is over.
    constexpr std::string_view take_over = "RAIL_CKPT_TAKE_OVER=";
    std::erase_if(job.environment, [&](const auto& variable) { return variable.starts_with(take_over); });
    job.environment.push_back(std::string(take_over) + job.word("job"));
}

struct FreeSubmitted {
    void operator()(submit_response_msg_t* answer) const { slurm_free_submit_response_response_msg(answer); }
};

// Submits it; returns the new job's number.
Expected<std::uint32_t> hand_in(SlurmSubmission& job, bool hold) {
    SlurmDescription description(job);
    if (hold) description.raw.priority = 0;
    submit_response_msg_t* answer = nullptr;
    errno = 0;
    const int called = slurm_submit_batch_job(&description.raw, &answer);
    const int failed = number_of(called);
    const std::unique_ptr<submit_response_msg_t, FreeSubmitted> owned(answer);
    if (called != SLURM_SUCCESS || !owned)
        return slurm_error(
            fmt::format("submitting job {} again as user {}", job.word("job"), job.word("uid")), failed);
    return owned->job_id;
}

} // namespace

SlurmKept::SlurmKept(std::filesystem::path folder, Ask ask)
    : folder_(std::move(folder)), ask_(std::move(ask)) {
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(folder_, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        if (!base::parse_count(entry->path().filename().string())) continue;
        const auto text = base::read_file(entry->path(), 2 * most_bytes);
        auto head = text ? parse_submission(*text) : Expected<SlurmSubmission>(text.error());
        if (!head) continue;
        head->script.clear();
        head->environment.clear();
        kept_.emplace(static_cast<std::uint32_t>(head->number("job")), *std::move(head));
    }
}

void SlurmKept::remove(std::uint32_t job) {
    std::error_code ignored; // what remains is removed at the look after the next start
    std::filesystem::remove(file_of(job), ignored);
    kept_.erase(job);
}

// Kept in memory even if the disk does not take it: then why_not reports this when it matters.
void SlurmKept::keep(const job_info_t& job, const slurm_conf_t& conf) {
    auto kept = submission_of(job);
    if (kept.word("why_not").empty())
        if (auto read = read_files(kept, text_of(conf.state_save_location), most_bytes); !read)
            kept.words["why_not"] = "its script could not be kept: " + read.error().text;
    if (!kept.word("why_not").empty()) {
        kept.script.clear();
        kept.environment.clear();
    }
    std::error_code failed;
    if (std::filesystem::create_directory(folder_, failed))
        std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, failed);
    if (auto written = base::write_file(file_of(job.job_id), to_text(kept), 0600); !written)
        kept.words["why_not"] = "its script could not be kept: " + written.error().text;
    kept.script.clear();
    kept.environment.clear();
    kept_.insert_or_assign(job.job_id, std::move(kept));
}

Expected<void> SlurmKept::put(Head& head, const Words& words) {
    set(head, words);
    const auto file = file_of(static_cast<std::uint32_t>(head.number("job")));
    const auto text = base::read_file(file, 2 * most_bytes);
    if (!text) return text.error();
    auto whole = parse_submission(*text);
    if (!whole) return std::move(whole).error().within(file.string());
    set(*whole, words);
    return base::write_file(file, to_text(*whole), 0600);
}

// What is not written is found out again after a restart.
void SlurmKept::note(Head& head, const Words& words) {
    if (room_ == 0) return set(head, words);
    --room_;
    static_cast<void>(put(head, words));
}

void SlurmKept::note_end(Head& head, const RmFailure& failure) {
    if (is_understood(head)) return;
    note(head, {{"end_time", seconds_of(failure.ended)},
                {"end_code", std::to_string(failure.code)},
                {"end_step_failed", failure.step_failed ? "1" : ""}});
}

void SlurmKept::follow(Heads::iterator kept, const job_info_t& job, const slurm_conf_t* conf) {
    auto& head = kept->second;
    const bool same = head.number("epoch") == job.restart_cnt &&
                      head.number("submitted") == static_cast<std::uint64_t>(job.submit_time);
    if (runs(job) && !same) {
        if (conf == nullptr || room_ == 0) return;
        --room_;
        return keep(job, *conf);
    }
    if (head.words.contains("gone")) note(head, {{"gone", ""}});
    const auto read = read_job(job);
    if (read.phase != JobPhase::ended) return;
    if (read.failure && same)
        note_end(head, *read.failure);
    else
        remove(job.job_id); // by its user, its time limit, or slurmctld's own decision
}

void SlurmKept::ask_accounting(const std::vector<std::uint32_t>& jobs, base::Time now) {
    if (jobs.empty() || now < next_ask_) return;
    next_ask_ = now + ask_pause;
    const auto ends = ask_(jobs, ask_patience);
    if (!ends) return;
    for (const auto& [job, end] : *ends) {
        const auto kept = kept_.find(job);
        if (kept == kept_.end()) continue;
        if (end)
            note_end(kept->second, *end);
        else
            remove(job);
    }
}

std::optional<RmJob> SlurmKept::forgotten(Head& head, const slurm_conf_t* conf, base::Time now) {
    const auto gone = time_in(head, "gone");
    const bool success =
        is_understood(head) && head.number("end_code") == 0 && head.word("end_step_failed").empty();
    if (now - gone > (success ? std::chrono::seconds(success_remembered) : std::chrono::seconds(remembered)))
        return {};
    auto job = read_job(record_of(head));
    RmFailure failure;
    failure.nodes = names_of(head.word("nodes").c_str());
    failure.unknown = !is_understood(head);
    failure.ended = failure.unknown ? gone : time_in(head, "end_time");
    failure.code = static_cast<std::uint32_t>(head.number("end_code"));
    failure.step_failed = !head.word("end_step_failed").empty();
    job.failure = std::move(failure);
    job.forgotten = Forgotten{head.word("why_not"),
                              job.failure->unknown && has_accounting(conf) && now - gone < asked_for};
    return job;
}

std::vector<RmJob> SlurmKept::look(std::span<const job_info_t> jobs, const slurm_conf_t* conf,
                                   base::Time now) {
    if (folder_.empty()) return {};
    room_ = most_at_once;
    std::set<std::uint32_t> known;
    std::set<std::string, std::less<>> tags;
    for (const auto& job : jobs) {
        if (const auto kept = kept_.find(job.job_id); kept != kept_.end()) {
            known.insert(job.job_id);
            follow(kept, job, conf);
        }
        if (job.batch_flag == 0 || job.admin_comment == nullptr || is_part_of_another(job)) continue;
        if (const auto tag = sched::part_in(job.admin_comment, sched::again_label); !tag.empty())
            tags.emplace(tag);
        // The tasks of large arrays, which are only noted, leave room for others.
        const auto most = job.array_job_id != 0 ? most_kept / 2 : most_kept;
        if (runs(job) && conf != nullptr && room_ > 0 && kept_.size() < most && !known.contains(job.job_id)) {
            const auto read = read_job(job);
            if (read.restart != true || !read.requeue) continue;
            known.insert(job.job_id);
            --room_;
            keep(job, *conf);
        }
    }
    std::vector<std::uint32_t> unknown;
    std::set<std::uint32_t> over;
    for (auto& [id, head] : kept_) {
        if (known.contains(id)) continue;
        if (!head.words.contains("gone")) note(head, {{"gone", seconds_of(now)}});
        if (tags.contains(tag_of(head)))
            over.insert(id);
        else if (!is_understood(head) && has_accounting(conf) && unknown.size() < most_asked &&
                 now - time_in(head, "gone") < asked_for)
            unknown.push_back(id);
    }
    ask_accounting(unknown, now);
    std::vector<RmJob> found;
    for (auto& [id, head] : kept_)
        if (!known.contains(id) && !over.contains(id)) {
            if (auto job = forgotten(head, conf, now))
                found.push_back(*std::move(job));
            else
                over.insert(id);
        }
    for (const auto id : over)
        remove(id);
    return found;
}

Expected<void> SlurmKept::submit(const SubmitAgain& action, std::span<const job_info_t> jobs,
                                 const slurm_conf_t* conf, base::Time now) {
    const auto id = slurm_id(action.job.id);
    if (!id) return id.error();
    const auto kept = kept_.find(*id);
    if (kept == kept_.end() || kept->second.number("epoch") != action.job.epoch)
        return Error{
            Code::not_found,
            fmt::format("what job {} was submitted with is not kept any more: submit it again by hand", *id)};
    auto& head = kept->second;
    if (head.words.contains("again") || with_tag(jobs, tag_of(head)) != nullptr) return {};
    // slurmctld would still know a job from then, unless it was long ago.
    const auto remembers = std::chrono::seconds(conf == nullptr ? 0 : conf->min_job_age);
    if (head.words.contains("tried") && now - time_in(head, "tried") >= remembers)
        return Error{Code::denied,
                     fmt::format("it may have been submitted at {} already, and be over: look for a "
                                 "job of its name (sacct), else submit it again by hand",
                                 base::iso_time(time_in(head, "tried")))};
    if (auto written = put(head, {{"tried", seconds_of(now)}}); !written)
        return Error{Code::unavailable, written.error().text};
    const auto text = base::read_file(file_of(*id), 2 * most_bytes);
    auto job = text ? parse_submission(*text) : Expected<SlurmSubmission>(text.error());
    if (!job) return std::move(job).error().within(file_of(*id).string());
    make_over(*job, action);
    const auto submitted = hand_in(*job, action.hold);
    if (!submitted) {
        if (submitted.error().code != Code::unavailable) static_cast<void>(put(head, {{"tried", ""}}));
        return submitted.error();
    }
    static_cast<void>(put(head, {{"again", std::to_string(*submitted)}}));
    return {};
}

} // namespace restart
