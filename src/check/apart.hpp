// Work that may hang, as calls into a driver or a file system do, in child processes: each says what it is
// about to try, so that one that must be ended is named by the step that it hung in, and tells its results as
// it goes, so that those before the hang are kept. The caller must have no other threads.
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

// The child's end. Its calls end the process when nobody listens any more.
class Sink {
public:
    Sink(int out, int in) : out_(out), in_(in) {}
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    // What is tried from now on.
    void begin(const Part& part, std::string_view test);
    void add(const Result& result);
    // Something for the parent alone, such as a checksum.
    void fact(std::string_view key, const std::string& value);
    // Waits until all children that have not ended are here, too: what follows runs in all at once.
    void meet();
    // Says that all is done; what comes after is not waited for.
    void end();

private:
    void send(const boost::json::object& message);
    int out_, in_;
};

struct Task {
    std::function<void(Sink&)> work{}; // exceptions are a result, not run
    base::Duration deadline{};         // from the start of all
    Part part{};                       // that is named until the first begin()
    std::string test{};
    bool hurried = false;   // the deadline is shorter than what a sound part may take: its end is no verdict
    bool companion = false; // watches the others: is ended once they are, without a result of its own
};

struct TaskOutcome {
    std::vector<Result> results;
    std::map<std::string, std::string> facts;
    bool whole = false; // it came to its end by itself
};

// Runs all tasks at once; outcomes stand in their order. A task that does not end within its deadline is
// killed, and a result of the step it was in is bad, or not run where it was hurried: `request.progress`
// hears each step. One that dies leaves a result that is not run. Once request.interrupt can be read all are
// killed. A process that sleeps in the kernel and cannot be killed is not waited for.
std::vector<TaskOutcome> run_apart(std::string_view check, std::vector<Task> tasks, const Request& request);

} // namespace check
