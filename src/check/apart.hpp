// Work that may hang, such as calls into a driver or a file system, in child processes. Each child reports
// its next step, so that one that must be killed is named by the step in which it hung, and sends its results
// as it goes, so that those before the hang are kept. The caller must have no other threads.
#pragma once

#include "base/clock.hpp"
#include "check/check.hpp"
#include "check/result.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace check {

// The child's end. Its calls end the process when the reader is gone.
class Sink {
public:
    Sink(int out, int in) : out_(out), in_(in) {}
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    // The step that starts now.
    void begin(const Part& part, std::string_view test);
    void add(const Result& result);
    // A value for the parent only, such as a checksum.
    void fact(std::string_view key, const std::string& value);
    // Waits until all children that have not ended are here, too: they continue at the same time.
    void meet();
    // Reports that the work is done; what follows is not waited for.
    void end();

private:
    void send(const boost::json::object& message);
    int out_, in_;
};

struct Task {
    std::function<void(Sink&)> work{}; // exceptions are a result, not run
    base::Duration deadline{};         // from the start of all tasks
    Part part{};                       // named until the first begin()
    std::string test{};
    bool hurried = false;   // the deadline is shorter than a sound part may need: missing it is no verdict
    bool companion = false; // watches the others and is ended when they have ended; no result of its own
};

struct TaskOutcome {
    std::vector<Result> results;
    std::map<std::string, std::string> facts;
    bool whole = false; // it ended normally
};

// Runs all tasks at once; outcomes are in their order. A task that exceeds its deadline is killed, and the
// result of its step is bad, or not run if hurried. `request.progress` is called for each step. A task that
// dies leaves a result that is not run. All are killed once request.interrupt can be read. A process that
// sleeps in the kernel and cannot be killed is not waited for.
std::vector<TaskOutcome> run_apart(std::string_view check, std::vector<Task> tasks, const Request& request);

} // namespace check
