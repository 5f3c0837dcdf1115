#include "restart/daemon/driver.hpp"

#include "base/log.hpp"
#include "base/units.hpp"
#include "restart/core/step.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace restart {
namespace {

namespace fs = std::filesystem;
namespace log = base::log;

constexpr base::Duration save_patience{5'000}; // of callers that need it to be written
constexpr base::Duration note_delay{100};      // before notes are written that nothing waits for

using Stopwatch = std::chrono::steady_clock;
double since(Stopwatch::time_point begin) {
    return std::chrono::duration<double>(Stopwatch::now() - begin).count();
}

void log_note(const Note& note) {
    std::string subject = note.incident;
    const auto add = [&](const std::string& text) { subject += (subject.empty() ? "" : " ") + text; };
    if (!note.host.empty()) add(note.host);
    if (note.job) add("job " + to_string(*note.job));
    const auto line =
        fmt::format("{}{}{}: {}", subject, subject.empty() ? "" : ": ", to_string(note.kind), note.text);
    note.alert ? log::warning("{}", line) : log::info("{}", line);
}

// Unfinished intents of all open incidents.
std::set<std::string> open_intents(const State& state) {
    std::set<std::string> ids;
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents)
            if (!intent.settled()) ids.insert(intent.action.id);
    for (const auto& [id, job] : state.jobs)
        if (job.plan && job.plan->acts()) ids.insert(plan_action(id, *job.plan));
    for (const auto& [name, host] : state.hosts)
        if (host.idle_check && host.idle_check->acts()) ids.insert(idle_check_action(name, *host.idle_check));
    return ids;
}

bool failed_in(const State& state, const std::string& id) {
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents)
            if (intent.action.id == id) return intent.progress != Progress::done;
    return false; // of a plan or an idle check: its outcome has the result
}

constexpr std::size_t most_unknown = 256;  // names of hosts
constexpr std::uint64_t segments_kept = 8; // of events, approximately

} // namespace

base::Expected<std::unique_ptr<Driver>> Driver::make(Journal journal, ResourceManager& rm, Metrics& metrics,
                                                     DriverOptions options) {
    auto state = journal.state();
    if (!state) return std::move(state).error();
    return std::unique_ptr<Driver>(
        new Driver(std::move(journal), *std::move(state), rm, metrics, std::move(options)));
}

Driver::Driver(Journal journal, std::optional<State> state, ResourceManager& rm, Metrics& metrics,
               DriverOptions options)
    : state_(state.value_or(State{})), rows_(state ? StateRows(state_) : StateRows()), rm_(rm),
      metrics_(metrics), options_(std::move(options)), pending_(open_intents(state_)),
      rm_users_(
          [this](const std::string& name, base::Duration patience) { return ask_user(name, patience); }),
      store_(std::move(journal), {[this] { return take_unsaved(); },
                                  [this](const Record& record, const std::optional<base::Error>& error) {
                                      written(record, error);
                                  }}) {
    options_.policy.words = rm_.words();
}

Driver::~Driver() {
    stop(base::Duration::max());
}

void Driver::start() {
    {
        const std::lock_guard lock(mutex_);
        metrics_.set(Metric::journal_up, {}, 1);
        started_ = Stopwatch::now();
        std::vector<RmJob> known;
        for (const auto& [id, job] : state_.jobs) {
            known.push_back(job.rm);
            // The reason for its hosts may have come and gone since the last reading.
            const bool given =
                job.plan && (job.plan->stage == GangStage::ordered || job.plan->stage == GangStage::released);
            if (is_gang(job.rm) && given) known.back().resumed = true;
        }
        rm_.recall(known);
        begin_events(true);
        apply(Started{});
        look_at_windows();
        rm_ended_ = files_ended_ = false;
    }
    store_.keep_history(options_.keep_history);
    store_.keep_events(options_.keep_events);
    store_.start();
    files_thread_ = std::jthread([this](const std::stop_token& stop) { run_files(stop); });
    wait_for_files();
    rm_thread_ = std::jthread([this](const std::stop_token& stop) { run_rm(stop); });
    ticker_ = std::jthread([this](const std::stop_token& stop) { run_ticker(stop); });
    for (auto& asker : askers_)
        asker = std::jthread([this](const std::stop_token& stop) { run_asker(stop); });
    for (std::size_t i = 0; i < program_threads_.size(); ++i)
        program_threads_.at(i) =
            std::jthread([this, &queue = i % 2 == 0 ? programs_ : checks_](const std::stop_token& stop) {
                run_programs(stop, queue);
            });
}

bool Driver::stop(base::Duration patience) {
    for (auto& asker : askers_)
        asker.request_stop();
    for (auto& thread : program_threads_)
        thread.request_stop();
    if (ticker_.joinable()) {
        ticker_.request_stop();
        ticker_.join();
    }
    for (auto& asker : askers_) // each call ends within seconds
        if (asker.joinable()) asker.join();
    for (auto& thread : program_threads_) // a running program is left alone
        if (thread.joinable()) thread.join();
    if (!rm_thread_.joinable()) return true;
    rm_thread_.request_stop();
    files_thread_.request_stop();
    std::unique_lock lock(mutex_);
    const auto ended = [this] { return rm_ended_ && files_ended_; };
    if (patience == base::Duration::max()) {
        ended_.wait(lock, ended);
    } else if (!ended_.wait_for(lock, patience, ended)) {
        lock.unlock();
        store_.stop();
        return false;
    }
    lock.unlock();
    rm_thread_.join();
    files_thread_.join();
    store_.stop();
    return true;
}

void Driver::reload(DriverOptions options) {
    const auto keep = options.keep_history;
    {
        const std::lock_guard lock(mutex_);
        options.keep_events = options_.keep_events;
        options_ = std::move(options);
        options_.policy.words = rm_.words();
        next_read_ = {};
    }
    store_.keep_history(keep);
    wake_.notify_all();
    look_at_files();
}

base::Expected<Reply> Driver::report(const Report& report) {
    const std::lock_guard lock(mutex_);
    if (!state_.knows_host(report.host)) {
        if (!state_.rm_read)
            return base::Error{base::Code::unavailable,
                               "the hosts are not known yet: the resource manager has not answered"};
        keep_unknown(report.host);
        return base::Error{
            base::Code::denied,
            fmt::format("host {} is neither in the resource manager nor in the fabric file", report.host)};
    }
    unknown_hosts_.erase(report.host);
    apply(AgentReported{report});
    return reply_to(state_, report);
}

void Driver::sweep(const FabricReport& report) {
    const std::lock_guard lock(mutex_);
    apply(FabricSwept{report});
}

base::Expected<std::string> Driver::wish(const Event& event) {
    std::string incident;
    {
        const std::lock_guard lock(mutex_);
        if (!journal_error_.empty())
            return base::Error{base::Code::unavailable,
                               "nothing is done while the journal cannot be written: " + journal_error_};
        incident = fmt::format("i-{}", state_.next_incident);
        if (auto refused = apply(event)) return *std::move(refused);
    }
    store_.settle(save_patience);
    return incident;
}

base::Expected<std::string> Driver::drain(const std::string& host, const std::string& reason,
                                          const std::string& user) {
    return wish(OperatorDrain{host, reason, user});
}

base::Expected<std::string> Driver::resume(const std::string& host, const std::string& user) {
    return wish(OperatorResume{host, user});
}

base::Expected<void> Driver::pause(const OperatorPause& request) {
    if (auto done = wish(request); !done) return std::move(done).error();
    return {};
}

base::Expected<void> Driver::go(const OperatorGo& request) {
    if (auto done = wish(request); !done) return std::move(done).error();
    return {};
}

// Windows use this host's wall clock: what is open is an event, so that deciding needs no time zone.
void Driver::look_at_windows() {
    if (options_.maintenance.empty() && state_.maintenance.empty()) return;
    const auto seconds = std::chrono::system_clock::to_time_t(base::now());
    std::tm local{};
    ::localtime_r(&seconds, &local);
    MaintenanceWindows windows;
    for (const auto& window : options_.maintenance)
        if (window.holds(local)) windows.open.push_back({window.text, window.hosts});
    const bool same = std::equal(
        windows.open.begin(), windows.open.end(), state_.maintenance.begin(), state_.maintenance.end(),
        [](const Maintenance& a, const Maintenance& b) { return a.window == b.window; });
    if (!same) apply(windows);
}

// Readers find what has just happened, but do not wait for a journal that cannot be written.
base::Expected<std::vector<Note>> Driver::notes(const NoteFilter& filter) {
    {
        const std::lock_guard lock(mutex_);
        if (!unsaved_.notes.empty()) store_.write_soon();
    }
    store_.settle(save_patience);
    return store_.journal().notes(filter);
}

base::Expected<std::vector<StoredAction>> Driver::intents(const std::string& incident, const View& view) {
    store_.settle(save_patience);
    return store_.journal().intents(incident, view);
}

DriverStatus Driver::status() const {
    const auto now = base::now();
    std::vector<std::string> unknown;
    for (const auto& [host, heard] : unknown_hosts_)
        if (now - heard <= options_.policy.silent) unknown.push_back(host);
    return {now,           options_.policy,          store_.journal().path(), journal_error_,
            files_error(), options_.explain_pending, options_.primary,        std::move(unknown),
            spares_};
}

// Only agents with the key reach this, but one of them may invent names.
void Driver::keep_unknown(const std::string& host) {
    const auto now = base::now();
    if (unknown_hosts_.size() >= most_unknown)
        std::erase_if(unknown_hosts_,
                      [&](const auto& one) { return now - one.second > options_.policy.silent; });
    if (unknown_hosts_.size() < most_unknown) unknown_hosts_[host] = now;
}

std::optional<base::Error> Driver::apply(const Event& event) {
    const auto begin = Stopwatch::now();
    const auto first_incident = state_.next_incident;
    const auto now = base::now();
    const bool keeps = options_.keep_events > 0;
    if (keeps) events_.event(event, now, options_.policy);
    auto out = step(std::move(state_), event, now, options_.policy);
    state_ = std::move(out.state);
    if (keeps) events_.outcome(out);
    collect(out, event);
    count(first_incident);
    metrics_.observe(Metric::step_seconds, since(begin));
    return out.refused;
}

void Driver::collect(Step& out, const Event& event) {
    for (auto& note : out.notes) {
        log_note(note);
        unsaved_.notes.push_back(std::move(note));
    }
    for (auto& action : out.actions) {
        pending_.insert(action.id);
        unsaved_.given.push_back(std::move(action));
    }
    if (out.durable) settle_intents(event);
    // Each write compares all hosts with what was written last. A note that nothing depends on waits for
    // others: if it is lost, so is the state that would otherwise not note it again.
    if (out.durable || !unsaved_.given.empty())
        store_.write_soon();
    else
        store_.write_within(unsaved_.notes.empty() ? options_.save : std::min(options_.save, note_delay));
}

// The journal's list of intents follows the state: those no longer open there have ended, by an outcome, by
// what a snapshot showed, or because they became obsolete.
void Driver::settle_intents(const Event& event) {
    const auto* outcome = std::get_if<ActionDone>(&event);
    const auto open = open_intents(state_);
    for (auto id = pending_.begin(); id != pending_.end();) {
        const bool ended = outcome != nullptr && outcome->action == *id;
        const std::string error = ended && outcome->error ? outcome->error->text : std::string();
        if (open.contains(*id)) {
            if (!error.empty()) unsaved_.outcomes.push_back({*id, error, false});
            ++id;
            continue;
        }
        const bool failed = !error.empty() || failed_in(state_, *id);
        unsaved_.outcomes.push_back({*id, failed && error.empty() ? "no longer to be done" : error, true});
        id = pending_.erase(id);
    }
}

// A stream is read from its beginning, so there are several, and the oldest is removed.
void Driver::begin_events(bool continues) {
    if (options_.keep_events == 0) return;
    events_.reset();
    events_began_ = std::make_shared<const State>(state_);
    events_continue_ = continues;
}

Record Driver::take_unsaved() {
    const std::lock_guard lock(mutex_);
    auto record = std::exchange(unsaved_, {});
    record.rows = rows_.changes(state_);
    record.events = events_.take();
    record.began = std::move(events_began_);
    record.continues = events_continue_;
    if (events_.size() > options_.keep_events / segments_kept) begin_events(true);
    return record;
}

void Driver::written(const Record& record, const std::optional<base::Error>& error) {
    const std::lock_guard lock(mutex_);
    metrics_.set(Metric::journal_up, {}, error ? 0 : 1);
    if (error) {
        if (journal_error_.empty())
            log::error("{}: no action is performed until the journal can be written", error->text);
        journal_error_ = error->text;
        begin_events(false); // they would fill the memory
        return;
    }
    if (!journal_error_.empty())
        log::info("{}: the journal is written again", store_.journal().path().string());
    journal_error_.clear();
    for (const auto& action : record.given)
        (is_check(action) ? checks_ : by_program(action) ? programs_ : queue_).push_back(action);
    if (!record.given.empty() || !queue_.empty()) wake_.notify_all();
}

void Driver::count(std::uint64_t first_incident) {
    for (auto number = first_incident; number < state_.next_incident; ++number) {
        const auto found = state_.incidents.find(number);
        if (found != state_.incidents.end())
            metrics_.add(Metric::incidents, {std::string(to_string(found->second.kind))});
    }
}

std::optional<std::uint32_t> Driver::rm_owner() {
    const std::lock_guard lock(mutex_);
    return rm_owner_;
}

std::optional<RmPrivacy> Driver::privacy() {
    const std::lock_guard lock(mutex_);
    return state_.rm_config ? state_.rm_config->hides : std::nullopt;
}

std::optional<RmUser> Driver::rm_user(std::uint32_t uid, const std::string& name, base::Duration patience) {
    return rm_users_.find(uid, name, patience);
}

void Driver::run_ticker(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any sleep;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        base::Duration tick{};
        {
            const std::lock_guard state(mutex_);
            look_at_windows();
            apply(Tick{});
            tick = options_.tick;
            ++ticks_;
        }
        sleep.wait_for(lock, stop, tick, [] { return false; });
    }
}

} // namespace restart
