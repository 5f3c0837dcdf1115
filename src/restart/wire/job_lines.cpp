#include "restart/wire/job_lines.hpp"

#include "restart/wire/codec.hpp"
#include "restart/wire/report_fields.hpp"

#include <algorithm>

namespace restart {

using base::Code;
using base::Error;
using base::Expected;
using base::Reader;

template <class Codec> void fields(Codec& codec, codec::Of<JobHello> auto& hello) {
    codec("job", hello.job);
    codec("epoch", hello.epoch);
    codec.added("rank", hello.rank);
}

template <class Codec> void fields(Codec&, codec::Of<JobDue> auto&) {}

// The bounds are those of a report (wire/report_fields.hpp): one commit that restartd would refuse must not
// invalidate the host's whole report.
template <class Codec> void fields(Codec& codec, codec::Of<JobCommit> auto& commit) {
    codec("step", commit.step);
    codec("path", commit.path, 4095);
    codec("cost_s", commit.cost_s);
    codec("bytes", commit.bytes);
    codec.maybe("safe_s", commit.safe_s);
}

template <class Codec> void fields(Codec&, codec::Of<JobOver> auto&) {}

template <class Codec> void fields(Codec& codec, codec::Of<JobUcx::Path> auto& path) {
    codec("over", path.over, 160);
    codec("endpoints", path.endpoints);
    codec.maybe("to", path.to, 64);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobUcx> auto& ucx) {
    codec("job", ucx.job);
    codec.added("epoch", ucx.epoch);
    codec.added("rank", ucx.rank);
    codec.maybe("tls", ucx.tls, 200);
    codec.maybe("devices", ucx.devices, 200);
    codec.maybe("unseen", ucx.unseen, 200);
    codec.added("paths", ucx.paths, 16);
    codec.added("failed", ucx.failed);
    codec.added("timeouts", ucx.timeouts);
    codec.added("refused", ucx.refused);
    codec.maybe("last", ucx.last, 200);
    codec.added("resent", ucx.resent);
    codec.maybe("resent_to", ucx.resent_to, 64);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobStats> auto& stats) {
    codec("job", stats.job);
    codec.added("epoch", stats.epoch);
    codec("uid", stats.uid);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobMark> auto& mark) {
    codec.added("rank", mark.rank);
    codec("steps", mark.steps);
    codec("seconds", mark.seconds);
    codec("waited_s", mark.waited_s);
    codec.maybe("first", mark.first);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobKeep> auto& keep) {
    codec.maybe("ended", keep.ended);
}

template <class Codec> void fields(Codec& codec, codec::Of<KeepAdvice> auto& advice) {
    codec.added("end", advice.end, 200);
    codec.added("cut_off", advice.cut_off, 200);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobSave> auto& save) {
    codec("within_s", save.within_s);
}

template <class Codec> void fields(Codec& codec, codec::Of<RunAdvice> auto& advice) {
    codec.added("heard", advice.heard);
    codec.added("suspected", advice.suspected);
    codec.added("order", advice.order);
}

template <class Codec> void fields(Codec& codec, codec::Of<Advice> auto& advice) {
    codec.added("interval_s", advice.interval_s);
    codec.added("save_by", advice.save_by);
    codec.added("incident", advice.incident);
}

namespace {

std::string line_of(const boost::json::object& body) {
    return base::to_text(body) + '\n';
}

template <class T> Expected<T> take(const Reader& body) {
    T read;
    if (auto taken = codec::Taker::take(body, read, codec::unbounded); !taken)
        return std::move(taken).error();
    return read;
}

Expected<JobRequest> read_commit(const Reader& body) {
    auto commit = take<JobCommit>(body);
    if (!commit) return std::move(commit).error();
    if (!commit->path.starts_with('/')) return body.error("path: must be absolute");
    if (commit->cost_s < 0 || commit->cost_s > 1e6)
        return body.error("cost_s: must be between 0 and 1000000 seconds");
    if (commit->safe_s < 0 || commit->safe_s > 1e6)
        return body.error("safe_s: must be between 0 and 1000000 seconds");
    return JobRequest(*std::move(commit));
}

Expected<JobRequest> read_run(const Reader& body) {
    auto run = take<JobRun>(body);
    if (!run) return std::move(run).error();
    if (auto sound = check(*run); !sound) return std::move(sound).error();
    return JobRequest(*std::move(run));
}

Expected<JobRequest> read_stats(const Reader& body) {
    auto stats = take<JobStats>(body);
    if (!stats) return std::move(stats).error();
    return JobRequest(*stats);
}

Expected<JobRequest> read_keep(const Reader& body) {
    auto keep = take<JobKeep>(body);
    if (!keep) return std::move(keep).error();
    return JobRequest(*keep);
}

Expected<JobRequest> read_ucx(const Reader& body) {
    auto ucx = take<JobUcx>(body);
    if (!ucx) return std::move(ucx).error();
    return JobRequest(*std::move(ucx));
}

Expected<JobRequest> read_save(const Reader& body) {
    auto save = take<JobSave>(body);
    if (!save) return std::move(save).error();
    if (!(save->within_s > 0 && save->within_s <= 86'400))
        return body.error("within_s: must be above 0, and a day at most");
    return JobRequest(*save);
}

Expected<JobRequest> read_preflight(const Reader& body) {
    auto preflight = take<Preflight>(body);
    if (!preflight) return std::move(preflight).error();
    if (auto sound = check(*preflight); !sound) return std::move(sound).error();
    return JobRequest(*std::move(preflight));
}

Expected<JobRequest> read_mark(const Reader& body) {
    auto mark = take<JobMark>(body);
    if (!mark) return std::move(mark).error();
    if (!(mark->seconds > 0 && mark->seconds <= 1e6)) return body.error("seconds: must be above 0");
    if (!(mark->waited_s >= 0 && mark->waited_s <= mark->seconds))
        return body.error("waited_s: must be between 0 and seconds");
    if (mark->steps > 1'000'000'000) return body.error("steps: must be at most 1000000000");
    return JobRequest(*mark);
}

// An error when the answer is {"ok":false,"error":"…"}.
Expected<void> judge(const Reader& answer) {
    if (!answer.value().is_object()) return answer.error("an object is wanted");
    if (!answer.has("ok")) return {};
    const auto ok = answer.boolean("ok");
    if (!ok) return ok.error();
    if (!*ok) return Error{Code::denied, "refused: " + answer.text("error").value_or("no reason given")};
    return {};
}

} // namespace

std::string to_line(const JobRequest& request) {
    static constexpr boost::json::string_view ops[] = {"hello", "due",  "commit", "run",  "over",     "ucx",
                                                       "stats", "mark", "keep",   "save", "preflight"};
    boost::json::object line{{"op", ops[request.index()]}};
    const auto body =
        std::visit([](const auto& held) { return codec::Writer::value(held).as_object(); }, request);
    for (const auto& member : body)
        line.insert(member);
    return line_of(line);
}

Expected<JobRequest> read_job_request(std::string_view line) {
    const auto document = base::parse_json(line, 4);
    if (!document) return document.error();
    const Reader body(*document);
    const auto op = body.text("op");
    if (!op) return op.error();
    if (*op == "due") return JobRequest(JobDue{});
    if (*op == "commit") return read_commit(body);
    if (*op == "run") return read_run(body);
    if (*op == "over") return JobRequest(JobOver{});
    if (*op == "ucx") return read_ucx(body);
    if (*op == "stats") return read_stats(body);
    if (*op == "mark") return read_mark(body);
    if (*op == "keep") return read_keep(body);
    if (*op == "save") return read_save(body);
    if (*op == "preflight") return read_preflight(body);
    if (*op != "hello")
        return body.error(
            "op: must be hello, due, commit, run, over, ucx, stats, mark, keep, save or preflight");
    auto hello = take<JobHello>(body);
    if (!hello) return std::move(hello).error();
    return JobRequest(*hello);
}

std::string hello_answer(const Advice& advice) {
    auto body = codec::Writer::value(advice).as_object();
    body["ok"] = true;
    return line_of(body);
}
std::string due_answer(const Advice& advice) {
    return line_of(codec::Writer::value(advice).as_object());
}
std::string commit_answer() {
    return line_of({{"ok", true}});
}
std::string stats_answer(std::uint16_t port) {
    return line_of({{"ok", true}, {"port", port}});
}
std::string run_answer(const RunAdvice& advice) {
    auto body = codec::Writer::value(advice).as_object();
    body["ok"] = true;
    return line_of(body);
}
std::string keep_answer(const KeepAdvice& advice) {
    auto body = codec::Writer::value(advice).as_object();
    body["ok"] = true;
    return line_of(body);
}
std::string preflight_answer(const PreflightAdvice& advice) {
    auto body = codec::Writer::value(advice).as_object();
    body["ok"] = true;
    return line_of(body);
}
std::string job_refusal(std::string_view why) {
    return line_of({{"ok", false}, {"error", boost::json::string(why)}});
}

Expected<Advice> read_advice(std::string_view line) {
    const auto document = base::parse_json(line);
    if (!document) return document.error();
    const Reader answer(*document);
    if (auto sound = judge(answer); !sound) return std::move(sound).error();
    auto advice = take<Advice>(answer);
    if (advice && advice->interval_s && *advice->interval_s <= 0)
        return answer.error("interval_s: is not above 0");
    return advice;
}

Expected<RunAdvice> read_run_advice(std::string_view line) {
    const auto document = base::parse_json(line);
    if (!document) return document.error();
    const Reader answer(*document);
    if (auto sound = judge(answer); !sound) return std::move(sound).error();
    auto advice = take<RunAdvice>(answer);
    if (advice && advice->order)
        if (auto sound = check(*advice->order); !sound) return std::move(sound).error().within("order");
    return advice;
}

Expected<KeepAdvice> read_keep_advice(std::string_view line) {
    const auto document = base::parse_json(line);
    if (!document) return document.error();
    const Reader answer(*document);
    if (auto sound = judge(answer); !sound) return std::move(sound).error();
    return take<KeepAdvice>(answer);
}

Expected<PreflightAdvice> read_preflight_advice(std::string_view line) {
    const auto document = base::parse_json(line);
    if (!document) return document.error();
    const Reader answer(*document);
    if (auto sound = judge(answer); !sound) return std::move(sound).error();
    return take<PreflightAdvice>(answer);
}

Expected<void> read_done(std::string_view line) {
    const auto document = base::parse_json(line);
    if (!document) return document.error();
    return judge(Reader(*document));
}

} // namespace restart
