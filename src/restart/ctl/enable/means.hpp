// What `--apply` acts with: the service manager of this host, scontrol, and the site's programs that reach
// hosts. Run without a shell; a failed program is reported with its output.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <functional>
#include <string>
#include <vector>

namespace restart::enable {

class Means {
public:
    struct Words {
        std::vector<std::string> service{"systemctl"};
        std::vector<std::string> run_on_hosts, copy_to_hosts; // empty: an administrator does that
        std::string unit = "slurmctld";
    };
    // `say` prints a line for the waiting user.
    Means(Words words, std::function<void(const std::string&)> say)
        : words_(std::move(words)), say_(std::move(say)) {}

    void say(const std::string& line) const { say_(line); }

    base::Expected<void> stop_controller() const;
    base::Expected<void> start_controller() const;
    base::Expected<void> reload_restartd() const;
    // Whether the service manager reports it as failed.
    bool controller_failed() const;

    bool reaches_hosts() const { return !words_.run_on_hosts.empty(); }
    // Runs a command on hosts: PROGRAM HOSTS COMMAND ...
    base::Expected<void> run_on(const std::vector<std::string>& hosts,
                                std::vector<std::string> command) const;
    bool copies() const { return !words_.copy_to_hosts.empty(); }
    // Copies files to the same paths on hosts: PROGRAM HOSTS FILE ...
    base::Expected<void> copy_to(const std::vector<std::string>& hosts,
                                 const std::vector<std::string>& files) const;

    base::Expected<void> drain(const std::vector<std::string>& hosts, const std::string& reason) const;
    base::Expected<void> resume(const std::vector<std::string>& hosts) const;

private:
    base::Expected<void> run(std::vector<std::string> words, base::Duration patience) const;
    base::Expected<void> serve(const char* verb) const;

    Words words_;
    std::function<void(const std::string&)> say_;
};

} // namespace restart::enable
