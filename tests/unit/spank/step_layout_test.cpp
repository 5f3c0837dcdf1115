#include "spank/step_layout.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <sstream>

namespace {

using Values = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;)
        words.push_back(word);
    return words;
}

spank::Lookup lookup(Values values) {
    return [values](const std::string& name) -> std::optional<std::string> {
        const auto found = values.find(name);
        if (found == values.end()) return {};
        return found->second;
    };
}

// A job of 16 CPUs a node.
Values job(const std::string& nodes, Values more = {}) {
    more.insert({{"SLURM_JOB_NUM_NODES", nodes}, {"SLURM_JOB_CPUS_PER_NODE", "16(x" + nodes + ")"}});
    return more;
}

// "a2 c2 b2": each host with its tasks, or "- WHY".
std::string laid_out(const std::string& words, const Values& environment,
                     const spank::RankLists& lists = {{"a", "c", "b"}, {}}) {
    std::string why;
    const auto asked = spank::read_step_words(split(words), why);
    if (!asked) return "- " + why;
    const auto step = spank::step_hosts(*asked, lists, lookup(environment), why);
    if (!step) return "- " + why;
    std::string text;
    std::uint32_t total = 0;
    for (std::size_t i = 0; i < step->hosts.size(); ++i) {
        text += (i == 0 ? "" : " ") + step->hosts[i] + std::to_string(step->tasks[i]);
        total += step->tasks[i];
    }
    CHECK(total == step->total);
    return text;
}

const spank::RankLists spared = {{"a", "c"}, {"b"}};

} // namespace

TEST_CASE("step layout: a step over all nodes is laid out as srun does") {
    CHECK(laid_out("hostname", job("3")) == "a1 c1 b1");
    CHECK(laid_out("-n3 hostname", job("3")) == "a1 c1 b1");
    CHECK(laid_out("-N3 hostname", job("3")) == "a1 c1 b1");
    CHECK(laid_out("--ntasks-per-node=4 hostname", job("3")) == "a4 c4 b4");
    CHECK(laid_out("-n 12 --ntasks-per-node 4 hostname", job("3")) == "a4 c4 b4");
    CHECK(laid_out("hostname", job("3", {{"SLURM_NTASKS", "24"}, {"SLURM_NTASKS_PER_NODE", "8"}})) ==
          "a8 c8 b8");
    CHECK(laid_out("-n 20 hostname", job("3")) == "a7 c7 b6"); // shares, and what is left over
    CHECK(laid_out("-n 10 -c 4 hostname", job("3")) == "a4 c3 b3");
    CHECK(laid_out("-n 13 hostname", job("3", {{"SRUN_CPUS_PER_TASK", "4"}})) == "- more tasks than CPUs");
    CHECK(laid_out("hostname", job("3", {{"SLURM_NTASKS", "48"}})) == "a16 c16 b16");
    // srun itself drops what the job said where -n contradicts it
    CHECK(laid_out("-n 6 hostname", job("3", {{"SLURM_NTASKS", "24"}, {"SLURM_NTASKS_PER_NODE", "8"}})) ==
          "a2 c2 b2");
}

TEST_CASE("step layout: spares are left out, unless all nodes are asked for") {
    CHECK(laid_out("hostname", job("3"), spared) == "a1 c1");
    CHECK(laid_out("-N2 hostname", job("3"), spared) == "a1 c1");
    CHECK(laid_out("-N3 hostname", job("3"), spared) == "a1 c1 b1");
    CHECK(laid_out("-N3 --ntasks-per-node=2 hostname", job("3"), spared) == "a2 c2 b2");
    const Values eights = {{"SLURM_NTASKS", "24"}, {"SLURM_NTASKS_PER_NODE", "8"}};
    CHECK(laid_out("hostname", job("3", eights), spared) == "a8 c8");
    CHECK(laid_out("-n16 hostname", job("3", eights), spared) == "a8 c8");
    CHECK(laid_out("hostname", job("3", {{"SLURM_NTASKS", "6"}, {"SLURM_TASKS_PER_NODE", "2(x3)"}}),
                   spared) == "a2 c2");
    CHECK(laid_out("hostname", job("3", {{"SLURM_NTASKS", "5"}, {"SLURM_TASKS_PER_NODE", "2(x2),1"}}),
                   spared) == "- tasks that are not the same on each node");
}

TEST_CASE("step layout: what chooses hosts or layout itself is left to Slurm") {
    CHECK(laid_out("-w a hostname", job("3")) == "- -w");
    CHECK(laid_out("--nodelist=a hostname", job("3")) == "- --nodelist");
    CHECK(laid_out("-x a hostname", job("3")) == "- -x");
    CHECK(laid_out("-n6 -m cyclic hostname", job("3")) == "- -m");
    CHECK(laid_out("-lm block hostname", job("3")) == "- -m");
    CHECK(laid_out("-r1 hostname", job("3")) == "- -r");
    CHECK(laid_out("-O -n99 hostname", job("3")) == "- -O");
    CHECK(laid_out("--het-group=0 hostname", job("3")) == "- --het-group");
    CHECK(laid_out("--ntasks-per=2 hostname", job("3")) == "- --ntasks-per"); // srun takes shortened words
    CHECK(laid_out("-n1 a : -n1 b", job("3")) == "- a heterogeneous step");
    CHECK(laid_out("-N1-2 hostname", job("3")) == "- -N 1-2");
    CHECK(laid_out("-n 4k hostname", job("3")) == "- -n 4k");
    CHECK(laid_out("--ntasks=many hostname", job("3")) == "- --ntasks=many");
    CHECK(laid_out("-N2 hostname", job("3")) == "- 2 of 3 nodes"); // steps may run side by side
    CHECK(laid_out("-N9 hostname", job("3")) == "- 9 of 3 nodes");
    CHECK(laid_out("-n1 hostname", job("3")) == "- fewer tasks than nodes");
    CHECK(laid_out("-n49 hostname", job("3")) == "- more tasks than CPUs");
    CHECK(laid_out("-n7 --ntasks-per-node=2 hostname", job("3")) ==
          "- tasks that are not --ntasks-per-node on each node");
    CHECK(laid_out("-n6 --exact hostname", job("3")) ==
          "- tasks that fill nodes in a way only slurmctld knows");
    CHECK(laid_out("-n6 hostname", job("3", {{"SLURM_HINT", "nomultithread"}})) ==
          "- tasks that fill nodes in a way only slurmctld knows");
    CHECK(laid_out("-n6 --hint=nomultithread --ntasks-per-node=2 hostname", job("3")) == "a2 c2 b2");
    CHECK(laid_out("-n6 hostname", {{"SLURM_JOB_CPUS_PER_NODE", "16(x2),8"}}) ==
          "- tasks that fill nodes in a way only slurmctld knows");
    for (const char* name : {"SLURM_HOSTFILE", "SLURM_DISTRIBUTION", "SLURM_OVERCOMMIT", "SLURM_HET_SIZE"})
        CHECK(laid_out("hostname", job("3", {{name, "1"}})) ==
              std::string("- ") + name + " in the environment");
}

TEST_CASE("step layout: words are separated from the program as srun does") {
    CHECK(laid_out("-l -o out.%t --mpi=pmix -Qu program -N1 -w x", job("3")) == "a1 c1 b1");
    CHECK(laid_out("-K1 -lN3 program", job("3")) == "a1 c1 b1");
    CHECK(laid_out("--output -n1 program", job("3")) == "a1 c1 b1"); // -n1 is the file's name
    CHECK(laid_out("-n3 -- -w", job("3")) == "a1 c1 b1");
    CHECK(laid_out("--export ALL,A=1 --exclusive program", job("3")) == "a1 c1 b1");
    CHECK(laid_out("- x", job("3")) == "a1 c1 b1");
    CHECK(laid_out("", job("3")) == "- no program");
    CHECK(laid_out("-n", job("3")) == "- no program");
    CHECK(laid_out("--pty bash", job("3")) == "- --pty"); // one task, whatever the job has
}
