// A double of the resource manager: nodes and jobs in memory, each action recorded, absence on demand. It
// stands in for Slurm in tests of the daemon's shell and is told apart by its name.
#pragma once

#include "restart/rm/rm.hpp"
#include "restart/rm/slurm_words.hpp"
#include "sched/say/words.hpp"
#include "unit/patience.hpp"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace test {

class RmDouble final : public restart::ResourceManager {
public:
    static constexpr std::uint32_t slurm_user = 64030;

    explicit RmDouble(const std::vector<std::string>& hosts) {
        for (const auto& name : hosts)
            world_.nodes.push_back(idle(name));
        world_.config.emplace();
        world_.config->takes_flags = world_.config->chooses_nodes = true;
        world_.config->hides.emplace(); // nothing
    }

    // Changes the world between calls.
    template <class Change> void change(Change change) {
        const std::lock_guard lock(mutex_);
        change(world_);
    }
    void away(bool is_away) {
        const std::lock_guard lock(mutex_);
        away_ = is_away;
    }
    // The actions it was asked for, in order, as describe() has them.
    std::vector<std::string> calls() {
        const std::lock_guard lock(mutex_);
        return calls_;
    }
    // True as soon as `count` of them were made; false when that does not come.
    bool wait_for_calls(std::size_t count) {
        std::unique_lock lock(mutex_);
        return called_.wait_for(lock, patience(), [&] { return calls_.size() >= count; });
    }
    restart::RmNode node(const std::string& name) {
        const std::lock_guard lock(mutex_);
        return *find(name);
    }

    base::Expected<restart::RmSnapshot> read() override {
        const std::lock_guard lock(mutex_);
        if (away_) return base::Error{base::Code::unavailable, "the double is away"};
        return world_;
    }

    // What silent hosts show of themselves.
    void set_life(restart::Life life) {
        const std::lock_guard lock(mutex_);
        life_ = life;
    }
    restart::Life ask_host(const std::string&, base::Duration) override {
        const std::lock_guard lock(mutex_);
        return life_;
    }

    base::Expected<void> perform(const restart::Action& action) override {
        const std::lock_guard lock(mutex_);
        if (away_) return base::Error{base::Code::unavailable, "the double is away"};
        calls_.push_back(describe(action));
        called_.notify_all();
        auto* node = find(host_of(action));
        if (node == nullptr) return {};
        if (const auto* drain = restart::as<restart::DrainHost>(action)) {
            node->drain = true;
            node->state = "IDLE+DRAIN";
            node->reason = drain->reason;
        } else if (const auto* down = restart::as<restart::DownHost>(action)) {
            node->down = true;
            node->drain = node->drain || down->drain;
            node->state = "DOWN";
            node->reason = down->reason;
        } else if (const auto* resume = restart::as<restart::ResumeHost>(action)) {
            *node = idle(resume->host);
        }
        return {};
    }

    // The queue to tell; what was written into comments stands in it.
    void set_queue(restart::RmQueue queue) {
        const std::lock_guard lock(mutex_);
        queue_ = std::move(queue);
    }
    restart::QueueJob job(base::JobId id) {
        const std::lock_guard lock(mutex_);
        for (const auto& job : queue_.jobs)
            if (job.id == id) return job;
        return {};
    }
    // Called by each reading of the queue, which goes on when it returns.
    void during_queue(std::function<void()> wait) {
        const std::lock_guard lock(mutex_);
        during_queue_ = std::move(wait);
    }
    base::Expected<restart::RmQueue> queue() override {
        std::unique_lock lock(mutex_);
        if (const auto wait = during_queue_) {
            lock.unlock();
            wait();
            lock.lock();
        }
        if (away_) return base::Error{base::Code::unavailable, "the double is away"};
        queue_.read = base::now();
        ++queue_readings_;
        return queue_;
    }
    base::Expected<void> write_why(base::JobId id, const std::string& text) override {
        const std::lock_guard lock(mutex_);
        if (away_) return base::Error{base::Code::unavailable, "the double is away"};
        ++told_;
        for (auto& job : queue_.jobs)
            if (job.id == id) job.shown = sched::as_phrase(text, sched::longest_shown);
        return {};
    }
    std::size_t queue_readings() {
        const std::lock_guard lock(mutex_);
        return queue_readings_;
    }
    std::size_t told() {
        const std::lock_guard lock(mutex_);
        return told_;
    }

    // What its accounting grants, by name.
    void grant(const std::string& name, restart::RmUser user) {
        const std::lock_guard lock(mutex_);
        users_[name] = std::move(user);
    }
    base::Expected<restart::RmUser> user(const std::string& name) override {
        const std::lock_guard lock(mutex_);
        if (away_) return base::Error{base::Code::unavailable, "the double is away"};
        const auto found = users_.find(name);
        return found == users_.end() ? restart::RmUser() : found->second;
    }

    restart::RmWords words() const override { return restart::slurm_words(); }
    std::optional<std::uint32_t> owner() override { return slurm_user; }

private:
    static restart::RmNode idle(const std::string& name) {
        restart::RmNode node;
        node.name = name;
        node.state = "IDLE";
        return node;
    }
    restart::RmNode* find(const std::string& name) {
        for (auto& node : world_.nodes)
            if (node.name == name) return &node;
        return nullptr;
    }
    std::mutex mutex_;
    std::condition_variable called_;
    restart::RmSnapshot world_;
    restart::RmQueue queue_;
    std::function<void()> during_queue_;
    std::size_t told_ = 0;
    std::size_t queue_readings_ = 0;
    std::map<std::string, restart::RmUser> users_;
    std::vector<std::string> calls_;
    restart::Life life_ = restart::Life::unknown;
    bool away_ = false;
};

} // namespace test
