// railcheck mpi and railcheck nccl: which host or rail slows collective operations. Manual: railcheck(8).
#pragma once

#include "base/cli.hpp"
#include "base/expected.hpp"
#include "check/gang_report.hpp"
#include "check/mpi/gang.hpp"

#include <functional>
#include <string>
#include <vector>

namespace check::mpi {

class MpiCommand {
public:
    enum class Over { mpi, nccl };
    explicit MpiCommand(Over over) : over_(over) {}
    void add_options(base::Words& words);
    // The exit status: 1 when something is slow.
    int run(const base::Cli& cli) const;

private:
    struct Plan;
    base::Expected<Plan> plan() const;
    using Progress = std::function<void(const std::string&)>; // called with a phrase before each run
    base::Expected<GangReport> search(Gang& gang, const Plan& plan, Operation operation,
                                      const Progress& progress) const;
    void complain(const std::string& host, const std::string& text) const;
    const char* name() const { return over_ == Over::nccl ? "nccl" : "mpi"; }
    base::Expected<int> take_part() const;
    base::Expected<int> lead(Gang& gang, const Plan& plan, const std::string& nccl) const;
    static base::Expected<int> serve(Gang& gang);

    Over over_;
    std::string config_, fabric_, devices_;
    std::vector<std::string> libraries_;
    std::string time_ = "200ms", whole_ = "10m", test_ = "all";
    std::string size_ = "8M";
    int least_ = 80, times_ = 3;
    int expected_ = 0; // Gb/s; 0: not given
    bool as_json_ = false, lines_ = false;
};

} // namespace check::mpi
