#include "restart/ckpt/doctor.hpp"

#include "base/units.hpp"
#include "base/utf8.hpp"
#include "restart/ckpt/asking.hpp"
#include "restart/ckpt/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

namespace restart::ckpt {
namespace {

struct Row {
    std::string_view what;
    bool fine = true;
    std::string says;
};

class Doctor {
public:
    explicit Doctor(const WatchOptions& options) : options_(options) {}

    std::vector<Row> look() {
        auto job = options_.job;
        job.read_only = true;
        auto session = Session::open(job);
        if (!session) {
            add("folder", false, session.error().text);
            return std::move(rows_);
        }
        const auto dir = session->dir().string();
        look_at_folder(dir);
        look_at_job();
        const bool foreign = look_at_kind(dir, *session);
        if (!foreign) look_at_claim(session->dir());
        const auto verdict = session->due();
        look_at_socket(*session);
        add("interval", true,
            base::human_duration(base::duration_from_seconds(verdict.interval.length.count())) + ", from " +
                std::string(to_string(verdict.interval.source)));
        if (foreign) look_at_request();
        add("now", true,
            foreign ? "its program saves when it does: " + to_sentence(verdict) : to_sentence(verdict));
        return std::move(rows_);
    }

private:
    void add(std::string_view what, bool fine, std::string says) {
        rows_.push_back({what, fine, std::move(says)});
    }

    void look_at_folder(const std::string& dir) {
        const auto shown = base::printable(dir, 300);
        if (::access(dir.c_str(), W_OK | X_OK) != 0)
            return add("folder", false,
                       base::system_error(shown, errno).text + ": the job cannot write to it");
        struct statvfs room {};
        const bool known = ::statvfs(dir.c_str(), &room) == 0;
        const auto files = kinds::FilesOnDisk::open(dir);
        const bool local = files && (*files)->is_local();
        add("folder", !known || room.f_bavail > 0,
            fmt::format("{}: {} bytes free, {}", shown,
                        known ? std::uint64_t{room.f_bavail} * room.f_frsize : 0,
                        local ? "on a local file system, which other hosts do not see"
                              : "on a file system of several hosts, or one that is not known"));
    }

    void look_at_job() {
        const auto& job = options_.job;
        add("job", static_cast<bool>(job.job),
            job.job ? fmt::format("{}, restarted {} times", to_string(job.job), job.restart)
                    : "none: run it in the job (SLURM_JOB_ID, or RAIL_JOB_ID of rail-lsf-run(1))");
    }

    // Whether another program keeps the checkpoints; counts the interval from the newest.
    bool look_at_kind(const std::string& dir, Session& session) {
        const auto found = options_.kind.known == kinds::Known::railckpt ? kinds::Found{options_.kind}
                                                                         : look_at(dir, options_.kind);
        if (!found) {
            add("kind", false, found.error().text);
            return is_foreign(options_.kind);
        }
        kind_ = found->kind.known;
        const bool foreign = is_foreign(found->kind);
        if (!foreign) {
            const auto latest = session.latest(Depth::sizes);
            const bool whole = latest && latest->newest;
            // Who claims the directory counts from then on.
            if (whole || std::filesystem::exists(session.dir() / "epoch"))
                session.count_from_files();
            else
                session.count_from(start_of_job(base::now()));
            add("kind", latest && (whole || !found->others),
                !latest ? latest.error().text
                : whole ? fmt::format("railckpt's own: newest step {}", latest->newest->manifest.id.step)
                : found->others
                    ? "what is there is not known to Railyard: name it with --ckpt-kind (RAIL_CKPT_KIND)"
                    : "railckpt's own, or none yet");
            return false;
        }
        session.count_from(found->newest ? found->newest->done : start_of_job(base::now()));
        auto says = base::printable(to_string(found->kind)) + ": ";
        if (found->newest)
            says += fmt::format("newest whole checkpoint {}, of {}",
                                found->newest->step ? fmt::format("step {}", *found->newest->step)
                                                    : base::printable(found->newest->name, 100),
                                base::iso_time(found->newest->done));
        else
            says += "no whole checkpoint";
        for (const auto& why : found->passed_over)
            says += "; " + why;
        add("kind", found->newest.has_value() || found->passed_over.empty(), std::move(says));
        return true;
    }

    void look_at_claim(const std::filesystem::path& dir) {
        const auto& job = options_.job;
        auto seen = Fence::foresee(dir, {.job = job.job,
                                         .restart = job.restart,
                                         .cluster = job.cluster,
                                         .take_over = job.take_over,
                                         .launch = job.launch,
                                         .lsf = job.lsf});
        add("claim", seen.has_value(), seen ? *std::move(seen) : std::move(seen).error().text);
    }

    void look_at_socket(const Session& session) {
        const auto& path = options_.job.socket;
        if (path.empty())
            return add("socket", false,
                       "none (RAIL_CKPT_SOCKET): restartd knows of no checkpoint of this job");
        const auto trouble = session.agent_trouble();
        add("socket", trouble.empty() && options_.job.job,
            !options_.job.job ? "not asked: not in a job"
            : trouble.empty() ? base::printable(path, 300) + ": nodewatchd answers"
                              : trouble);
    }

    void look_at_request() {
        const auto way = options_.signal.value_or(base::own_signal(kind_));
        if (way.way == base::CkptSignal::Way::none)
            return add("request", true,
                       "its program is not asked to save: its next checkpoint is waited for");
        auto whom = Asking(way, options_.marks, options_.beside).foresee();
        add("request", whom.has_value(), whom ? *std::move(whom) : std::move(whom).error().text);
    }

    const WatchOptions& options_;
    kinds::Known kind_ = kinds::Known::automatic;
    std::vector<Row> rows_;
};

} // namespace

int doctor(const base::Cli& cli, const WatchOptions& options) {
    const auto rows = Doctor(options).look();
    boost::json::array all;
    for (const auto& [what, fine, says] : rows)
        if (options.json)
            all.push_back({{"what", what}, {"fine", fine}, {"says", base::as_utf8(says)}});
        else
            fmt::print("{}{:<10}{}\n", fine ? "  " : "! ", what, says);
    if (options.json) fmt::print("{}\n", base::to_text(all));
    const bool fine = std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.fine; });
    return base::finish_output(cli, fine ? base::exit_done : base::exit_finding);
}

} // namespace restart::ckpt
