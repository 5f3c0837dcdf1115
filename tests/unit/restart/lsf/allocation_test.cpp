#include "restart/lsf/allocation.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <string>

using namespace restart::lsf;

namespace {

Lookup in(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return {};
        return found->second;
    };
}

} // namespace

TEST_CASE("a job of LSF is known by its number, an array's element by its index too") {
    CHECK(to_string(*job_of(in({{"LSB_JOBID", "12"}, {"LSB_JOBINDEX", "0"}}))) == "12");
    CHECK(to_string(*job_of(in({{"LSB_JOBID", "12"}}))) == "12");
    CHECK(to_string(*job_of(in({{"LSB_JOBID", "12"}, {"LSB_JOBINDEX", "3"}}))) == "12[3]");
    CHECK(job_of(in({})).error().text == "LSB_JOBID is not set: it is run by a job of LSF, see esub.rail(8)");
    CHECK_FALSE(job_of(in({{"LSB_JOBID", "x"}})));
    CHECK_FALSE(job_of(in({{"LSB_JOBID", "12"}, {"LSB_JOBINDEX", "-1"}})));
    CHECK_FALSE(job_of(in({{"LSB_JOBID", "0"}})));
}

TEST_CASE("hosts keep the order of the plan") {
    const Allocation planned{{"n4", "n2", "n6"}, {4, 4, 2}};
    CHECK(*read_mcpu_hosts("n4 4 n2 4 n6 2 ") == planned);
    CHECK(*read_slots("n4\nn4\nn4\nn4\nn2\nn2\nn2\nn2\nn6\nn6\n") == planned);
    CHECK(*read_slots("n4 n4 n4 n4 n2 n2 n2 n2 n6 n6") == planned);
    CHECK(*read_mcpu_hosts("n1 2 n2 1 n1 1") == Allocation{{"n1", "n2"}, {3, 1}});
}

TEST_CASE("what names no hosts is refused") {
    for (const char* text : {"", " ", "n4", "n4 4 n2", "n4 x", "n4 0", "n4 -1", "4 n4",
                             "n4 99999999999999999999", "n4 1048577", "n4 1048576 n5 1"})
        CHECK_FALSE(read_mcpu_hosts(text));
    CHECK_FALSE(read_slots(""));
    CHECK_FALSE(read_slots(" \n"));
}

TEST_CASE("any text of hosts is read or refused") {
    std::mt19937 random(3);
    const std::string alphabet = "n1 4\n\t0-";
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (auto left = random() % 30; left > 0; --left)
            text += alphabet[random() % alphabet.size()];
        if (const auto read = read_mcpu_hosts(text)) {
            REQUIRE(read->hosts.size() == read->slots.size());
            std::string again;
            for (std::size_t i = 0; i < read->hosts.size(); ++i)
                again += read->hosts[i] + ' ' + std::to_string(read->slots[i]) + ' ';
            CHECK(*read_mcpu_hosts(again) == *read);
        }
    }
}
