#include "restart/daemon/driver.hpp"

#include "base/log.hpp"
#include "base/units.hpp"
#include "restart/core/health.hpp"
#include "restart/core/step.hpp"
#include "restart/core/witnesses.hpp"
#include "sched/spare_floor.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <unistd.h>
#include <utility>

namespace restart {
namespace {

namespace fs = std::filesystem;
namespace log = base::log;

constexpr base::Duration save_patience{5'000}; // of those who want to know that it was written
constexpr base::Duration after_action{50}; // look soon what an action has changed
constexpr base::Duration slowest_read{5'000};

using Stopwatch = std::chrono::steady_clock;
double since(Stopwatch::time_point begin) {
    return std::chrono::duration<double>(Stopwatch::now() - begin).count();
}

void tell(const Note& note) {
    std::string subject = note.incident;
    const auto add = [&](const std::string& text) { subject += (subject.empty() ? "" : " ") + text; };
    if (!note.host.empty()) add(note.host);
    if (note.job != 0) add(fmt::format("job {}", note.job));
    log::info("{}{}{}: {}", subject, subject.empty() ? "" : ": ", to_string(note.kind), note.text);
}

// Intents without an end, of all open incidents.
std::set<std::string> open_intents(const State& state) {
    std::set<std::string> ids;
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents)
            if (!intent.settled()) ids.insert(intent.action.id);
    return ids;
}

bool failed_in(const State& state, const std::string& id) {
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents)
            if (intent.action.id == id) return intent.progress != Progress::done;
    return false;
}

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
    : state_(state.value_or(State{})), rows_(state ? StateRows(state_) : StateRows()), rm_(rm), metrics_(metrics),
      options_(std::move(options)), pending_(open_intents(state_)),
      store_(std::move(journal),
             {[this] { return take_unsaved(); },
              [this](const Record& record, const std::optional<base::Error>& error) { written(record, error); }}) {}

Driver::~Driver() {
    stop(base::Duration::max());
}

void Driver::start() {
    {
        const std::lock_guard lock(mutex_);
        metrics_.set(Metric::journal_up, {}, 1);
        started_ = Stopwatch::now();
        apply(Started{});
        rm_ended_ = false;
    }
    store_.keep_history(options_.keep_history);
    store_.start();
    load_fabric();
    rm_thread_ = std::jthread([this](const std::stop_token& stop) { run_rm(stop); });
    ticker_ = std::jthread([this](const std::stop_token& stop) { run_ticker(stop); });
}

bool Driver::stop(base::Duration patience) {
    if (ticker_.joinable()) {
        ticker_.request_stop();
        ticker_.join();
    }
    if (!rm_thread_.joinable()) return true;
    rm_thread_.request_stop();
    std::unique_lock lock(mutex_);
    const auto ended = [this] { return rm_ended_; };
    if (patience == base::Duration::max()) {
        ended_.wait(lock, ended);
    } else if (!ended_.wait_for(lock, patience, ended)) {
        lock.unlock();
        store_.stop();
        return false;
    }
    lock.unlock();
    rm_thread_.join();
    store_.stop();
    return true;
}

void Driver::reload(DriverOptions options) {
    const auto keep = options.keep_history;
    {
        const std::lock_guard lock(mutex_);
        options_ = std::move(options);
        next_read_ = {};
    }
    store_.keep_history(keep);
    fabric_.forget(); // what is worked out from it depends on the options, too
    wake_.notify_all();
    load_fabric();
}

base::Expected<Reply> Driver::report(const Report& report) {
    const std::lock_guard lock(mutex_);
    if (!state_.knows_host(report.host)) {
        if (!state_.rm_read)
            return base::Error{base::Code::unavailable,
                               "the hosts are not known yet: the resource manager has not answered"};
        return base::Error{
            base::Code::denied,
            fmt::format("host {} is neither in the resource manager nor in the fabric file", report.host)};
    }
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

// Readers find what has just happened, but wait for no journal that cannot be written.
base::Expected<std::vector<Note>> Driver::notes(const NoteFilter& filter) {
    store_.settle(save_patience);
    return store_.journal().notes(filter);
}

base::Expected<std::vector<StoredAction>> Driver::intents(const std::string& incident) {
    store_.settle(save_patience);
    return store_.journal().intents(incident);
}

DriverStatus Driver::status() const {
    return {base::now(),    options_.policy, store_.journal().path(),
            journal_error_, fabric_error_,   options_.explain_pending};
}

std::optional<base::Error> Driver::apply(const Event& event) {
    const auto begin = Stopwatch::now();
    const auto first_incident = state_.next_incident;
    auto out = step(std::move(state_), event, base::now(), options_.policy);
    state_ = std::move(out.state);
    collect(out, event);
    count(first_incident);
    metrics_.observe(Metric::step_seconds, since(begin));
    return out.refused;
}

void Driver::collect(Step& out, const Event& event) {
    for (auto& note : out.notes) {
        tell(note);
        unsaved_.notes.push_back(std::move(note));
    }
    for (auto& action : out.actions) {
        pending_.insert(action.id);
        unsaved_.given.push_back(std::move(action));
    }
    if (out.durable) settle_intents(event);
    const bool soon = out.durable || !unsaved_.notes.empty() || !unsaved_.given.empty();
    store_.write_within(soon ? base::Duration::zero() : options_.save);
}

// The journal's list of intents follows the state: those that are no longer open there have ended, by an
// outcome, by what a snapshot showed, or because they were overtaken.
void Driver::settle_intents(const Event& event) {
    const auto* outcome = std::get_if<ActionDone>(&event);
    const auto open = open_intents(state_);
    for (auto id = pending_.begin(); id != pending_.end();) {
        const bool told = outcome != nullptr && outcome->action == *id;
        const std::string error = told && outcome->error ? outcome->error->text : std::string();
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

Record Driver::take_unsaved() {
    const std::lock_guard lock(mutex_);
    auto record = std::exchange(unsaved_, {});
    record.rows = rows_.changes(state_);
    return record;
}

void Driver::written(const Record& record, const std::optional<base::Error>& error) {
    const std::lock_guard lock(mutex_);
    metrics_.set(Metric::journal_up, {}, error ? 0 : 1);
    if (error) {
        if (journal_error_.empty())
            log::error("{}: no action is performed until the journal can be written", error->text);
        journal_error_ = error->text;
        return;
    }
    if (!journal_error_.empty()) log::info("{}: the journal is written again", store_.journal().path().string());
    journal_error_.clear();
    queue_.insert(queue_.end(), record.given.begin(), record.given.end());
    if (!queue_.empty()) wake_.notify_all();
}

void Driver::count(std::uint64_t first_incident) {
    for (auto number = first_incident; number < state_.next_incident; ++number) {
        const auto found = state_.incidents.find(number);
        if (found != state_.incidents.end())
            metrics_.add(Metric::incidents, {std::string(to_string(found->second.kind))});
    }
}

void Driver::update_gauges() {
    const std::lock_guard lock(mutex_);
    const auto now = base::now();
    std::map<Metrics::Labels, double> hosts;
    for (const char* state : {"up", "drained", "down", "unknown"})
        hosts[{state}] = 0;
    double silent = 0;
    for (const auto& [name, host] : state_.hosts) {
        const char* state = !host.node         ? "unknown"
                            : host.node->down  ? "down"
                            : host.node->drain ? "drained"
                                               : "up";
        ++hosts[{state}];
        if (host.last_report && now - *host.last_report > options_.policy.silent) ++silent;
    }
    metrics_.set_all(Metric::hosts, hosts);
    metrics_.set(Metric::agents_silent, {}, silent);
    metrics_.set(Metric::incidents_open, {}, static_cast<double>(state_.incidents.size()));
    metrics_.set(Metric::rm_up, {}, state_.rm_answers && state_.rm_read ? 1 : 0);
    if (state_.rm_config)
        metrics_.set_all(Metric::rm_plugins, {{{"job_submit"}, state_.rm_config->takes_flags() ? 1.0 : 0.0},
                                              {{"placement"}, state_.rm_config->chooses_nodes() ? 1.0 : 0.0}});
}

std::optional<std::uint32_t> Driver::rm_owner() {
    const std::lock_guard lock(mutex_);
    return rm_owner_;
}

void Driver::run_ticker(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any sleep;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        base::Duration tick{};
        {
            const std::lock_guard state(mutex_);
            apply(Tick{});
            tick = options_.tick;
        }
        load_fabric();
        tell_health();
        sleep.wait_for(lock, stop, tick, [] { return false; });
    }
}

bool Driver::read_due() const {
    return reads_met_ < reads_wanted_ || Stopwatch::now() >= next_read_;
}

void Driver::run_rm(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        wake_.wait_until(lock, stop, next_read_,
                         [&] { return !queue_.empty() || !errands_.empty() || read_due(); });
        if (stop.stop_requested()) break;
        if (!queue_.empty()) {
            perform_one(lock);
        } else if (!errands_.empty()) {
            const auto errand = std::move(errands_.front());
            errands_.pop_front();
            lock.unlock();
            errand->call(rm_);
            lock.lock();
            errand->done = true;
            progress_.notify_all();
        } else if (read_due()) {
            read_rm(lock);
        }
    }
    rm_ended_ = true;
    ended_.notify_all();
}

void Driver::perform_one(std::unique_lock<std::mutex>& lock) {
    const auto action = std::move(queue_.front());
    queue_.pop_front();
    // It may have waited here or for the journal while the world went on.
    if (const auto why = overtaken(state_, options_.policy, action); !why.empty()) {
        metrics_.add(Metric::actions, {std::string(to_string(action.kind)), "overtaken"});
        apply(ActionDone{action.id, base::Error{base::Code::unfit, why}, true});
        return;
    }
    lock.unlock();
    const auto begin = Stopwatch::now();
    auto done = rm_.perform(action);
    const auto took = since(begin);
    lock.lock();
    metrics_.observe(Metric::action_seconds, took);
    metrics_.add(Metric::actions, {std::string(to_string(action.kind)),
                                   done ? "done" : std::string(base::to_string(done.error().code))});
    ActionDone event{action.id, {}, false};
    if (!done) {
        log::warning("{}: {}: {}", action.id, describe(action), done.error().text);
        event.error = std::move(done).error();
    }
    apply(event);
    next_read_ = std::min(next_read_, Steady(Stopwatch::now() + after_action));
}

void Driver::read_rm(std::unique_lock<std::mutex>& lock) {
    const bool ask_user = !rm_owner_;
    const auto met = reads_wanted_;
    lock.unlock();
    auto snapshot = rm_.read();
    const auto user = snapshot && ask_user ? rm_.owner() : std::optional<std::uint32_t>();
    lock.lock();
    reads_met_ = met;
    if (user) {
        rm_owner_ = user;
        if (::geteuid() != 0 && ::geteuid() != *user)
            log::warning("running as user {}, neither root nor the resource manager's ({}): drains and "
                         "requeues will be refused",
                         ::geteuid(), *user);
    }
    metrics_.add(Metric::rm_polls, {snapshot ? "done" : std::string(base::to_string(snapshot.error().code))});
    if (snapshot) {
        failed_reads_ = 0;
        apply(RmRead{*std::move(snapshot)});
        tell_witnesses();
        warn_of_missing_parts();
        progress_.notify_all();
        next_read_ = Stopwatch::now() + options_.poll;
        return;
    }
    if (failed_reads_ == 0) log::warning("{}", snapshot.error().text);
    apply(RmUnavailable{snapshot.error().text});
    progress_.notify_all();
    const auto wait = options_.poll * (1 << std::min(failed_reads_, 8U));
    next_read_ = Stopwatch::now() + std::max(options_.poll, std::min(wait, slowest_read));
    ++failed_reads_;
}

// At the first reading, and when they change. That there is no quick one is a warning only after the others
// had the time to speak up for the first time.
void Driver::tell_witnesses() {
    const auto witnesses = witnesses_of(state_, options_.policy, base::now());
    const bool settled = Stopwatch::now() - started_ > std::chrono::minutes(1);
    auto now = fmt::format("{} {} {}", witnesses.fabric, witnesses.slow && settled,
                           witnesses.gives_up.value_or(base::Duration(-1)).count());
    if (now == std::exchange(witnesses_told_, now)) return;
    const auto text =
        fmt::format("witnesses of the loss of a host: {}", fmt::join(sentences(witnesses), "; "));
    if (witnesses.slow && settled)
        log::warning(
            "{}; none of them is quick: a host whose agent falls silent may be called lost only then", text);
    else
        log::info("{}", text);
}

// At start, and when it changes.
void Driver::warn_of_missing_parts() {
    if (!state_.rm_config || told_config_ == state_.rm_config) return;
    const auto missing = missing_parts(*state_.rm_config);
    for (const auto& part : missing)
        log::warning("installed half: {}", part);
    if (missing.empty() && told_config_ && !missing_parts(*told_config_).empty())
        log::info("slurmctld is configured with all parts of Railyard now");
    told_config_ = state_.rm_config;
}

// Observing changes nothing, so placement hears of nothing.
base::HealthMap Driver::weak_hosts() {
    const std::lock_guard lock(mutex_);
    return options_.policy.observe_only ? base::HealthMap() : health_of(state_, base::now());
}

void Driver::tell_health() {
    fs::path path;
    {
        const std::lock_guard lock(mutex_);
        path = options_.health;
    }
    if (!path.empty()) health_.write(path, weak_hosts(), base::now());
}

bool Driver::run_errand(std::function<void(ResourceManager&)> call, base::Duration patience) {
    auto errand = std::make_shared<Errand>();
    errand->call = std::move(call);
    std::unique_lock lock(mutex_);
    if (rm_ended_) return false;
    errands_.push_back(errand);
    wake_.notify_all();
    if (progress_.wait_for(lock, patience, [&] { return errand->done; })) return true;
    std::erase(errands_, errand);
    return false;
}

bool Driver::refresh(base::Duration patience) {
    std::unique_lock lock(mutex_);
    if (rm_ended_) return false;
    const auto mine = ++reads_wanted_;
    wake_.notify_all();
    return progress_.wait_for(lock, patience, [&] { return reads_met_ >= mine; }) && state_.rm_answers;
}

std::shared_ptr<const sched::Placing> Driver::placing() {
    const std::lock_guard lock(mutex_);
    return placing_;
}

base::Expected<RmQueue> Driver::queue(base::Duration patience) {
    const auto read = std::make_shared<base::Expected<RmQueue>>(base::Error{});
    if (!run_errand([read](ResourceManager& rm) { *read = rm.queue(); }, patience))
        return base::Error{base::Code::unavailable, "the resource manager does not answer"};
    if (!*read) return std::move(*read).error();
    auto queue = *std::move(*read);
    const auto weak = weak_hosts();
    for (auto& node : queue.nodes)
        if (const auto found = weak.find(node.name); found != weak.end()) node.health = found->second.health;
    return queue;
}

base::Expected<void> Driver::tell_why(std::uint32_t job, const std::string& text, base::Duration patience) {
    const auto told = std::make_shared<base::Expected<void>>();
    if (!run_errand([told, job, text](ResourceManager& rm) { *told = rm.tell_why(job, text); }, patience))
        return base::Error{base::Code::unavailable, "the resource manager does not answer"};
    return *told;
}

// Units follow the fabric file; a file that cannot be read leaves the old ones.
void Driver::load_fabric() {
    DriverOptions options;
    {
        const std::lock_guard lock(mutex_);
        options = options_;
    }
    auto loaded = fabric_.look(options.fabric, [&](std::uint32_t hosts) {
        return sched::spares_for(hosts, options.policy.mtbf_node, options.repair_time, options.spare_risk);
    });
    if (loaded && !*loaded) return;
    const std::lock_guard lock(mutex_);
    if (!loaded) {
        fabric_error_ = loaded.error().text;
        log::warning("{}: units stay as they were; railtopo discover makes the file", fabric_error_);
        return;
    }
    fabric_error_.clear();
    placing_ = std::move((*loaded)->placing);
    apply((*loaded)->units);
}

} // namespace restart
