// Fairshare in LSF's own words. Made by hand: by IBM's pages of LSF 10.1, by volclava's source, and as an
// engine of it printed two users.

#include "restart/rm/lsf_shares.hpp"

#include <catch2/catch.hpp>

using restart::read_shares;
using restart::read_user_groups;
using sched::lsf::ShareAccount;

namespace {

constexpr std::string_view of_lsf = R"(
QUEUE: gang
  -- gangs that wait for their placement

PARAMETERS/STATISTICS
PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV PJOBS
 40    0  Open:Active       -    -    -    -    16     8     8     0     0    0     2

SCHEDULING PARAMETERS
           r15s   r1m  r15m   ut      pg    io   ls    it    tmp    swp    mem
 loadSched   -     -     -     -       -     -    -     -     -      -      -
 loadStop    -     -     -     -       -     -    -     -     -      -      -

SCHEDULING POLICIES:  FAIRSHARE
USER_SHARES:  [physics, 3] [bob, 1]

SHARE_INFO_FOR: gang/
 USER/GROUP   SHARES  PRIORITY  STARTED  RESERVED  CPU_TIME  RUN_TIME   ADJUST  GPU_RUN_TIME
physics            3       0.111        8        0       10.2       120   0.000             0
bob                1       0.333        0        0         0.0         0   0.000             0

SHARE_INFO_FOR: gang/physics/
 USER/GROUP   SHARES  PRIORITY  STARTED  RESERVED  CPU_TIME  RUN_TIME   ADJUST  GPU_RUN_TIME
alice             10       0.370        8        0       10.2       120   0.000             0
default            1       0.333        0        0         0.0         0   0.000             0

USERS: all
HOSTS:  all
RES_REQ:  select[planned>0]
----------------------------------------------------------------------------

QUEUE: plain
  -- SHARE_INFO_FOR: nothing
USERS: all
)";

// Columns as in lsbatch/cmd/bqueues.c.
constexpr std::string_view of_volclava = R"(
QUEUE: gang
  -- gangs

SCHEDULING POLICIES:  FAIRSAHRE
USER_SHARES:  [alice, 2] [default, 1]

SHARE_INFO_FOR: gang/
USER/GROUP     SHARES  PRIORITY    STARTED   CPU_TIME   RUN_TIME
alice          2       0.074       8         3.5        40
averyveryverylongname 1       0.333       0         0.0        0

RUN_JOB_FACTOR: 5.000000
USERS: all
)";

} // namespace

TEST_CASE("the shares of a queue and of the groups in it") {
    const auto shares = read_shares(of_lsf);
    REQUIRE(shares.size() == 1);
    const auto& gang = shares.at("gang");
    CHECK(gang.per_slot == 3);
    CHECK(gang.accounts == std::vector<ShareAccount>{{{"physics"}, 3, 0.111, 8},
                                                     {{"bob"}, 1, 0.333, 0},
                                                     {{"physics", "alice"}, 10, 0.370, 8},
                                                     {{"physics", "default"}, 1, 0.333, 0}});
}

TEST_CASE("fewer columns, and a queue's own factor") {
    const auto gang = read_shares(of_volclava).at("gang");
    CHECK(gang.per_slot == 5);
    CHECK(gang.accounts ==
          std::vector<ShareAccount>{{{"alice"}, 2, 0.074, 8}, {{"averyveryverylongname"}, 1, 0.333, 0}});
}

TEST_CASE("shares as an engine prints them") {
    const auto gang = read_shares("QUEUE: gang\n  -- gangs\n\nSCHEDULING POLICIES:  FAIRSAHRE\n"
                                  "USER_SHARES:  [default,1]\n\nSHARE_INFO_FOR: gang/\n"
                                  "USER/GROUP      SHARES    PRIORITY   STARTED    CPU_TIME  RUN_TIME\n"
                                  " bob                 1       0.020        16         0.4         0\n"
                                  " alice               1       0.020        16         4.5         0\n\n")
                          .at("gang");
    CHECK(gang.accounts == std::vector<ShareAccount>{{{"bob"}, 1, 0.020, 16}, {{"alice"}, 1, 0.020, 16}});
}

TEST_CASE("what is no share is passed over") {
    CHECK(read_shares("").empty());
    CHECK(read_shares("QUEUE: gang\nUSERS: all\n").empty());
    CHECK(read_shares("SHARE_INFO_FOR:\nUSER/GROUP SHARES PRIORITY\nalice 1 0.3\n").empty());
    CHECK(read_shares("SHARE_INFO_FOR: gang/\nalice 1 0.3\n").empty());
    CHECK(read_shares("SHARE_INFO_FOR: gang/\nUSER/GROUP SHARES STARTED\nalice 1 3\n").empty());
    for (const std::string bad :
         {"alice", "alice x 0.3", "alice 1 -0.3", "alice 1 nan", "alice 1 inf", "alice 1 1e300"})
        CHECK(read_shares("SHARE_INFO_FOR: gang/\nUSER/GROUP SHARES PRIORITY\n" + bad + "\n").empty());
    // Without a column for what has started that is not known.
    const auto some = read_shares("SHARE_INFO_FOR: gang\nUSER/GROUP PRIORITY SHARES\nteam/ 0.3 1\n");
    CHECK(some.at("gang").accounts == std::vector<ShareAccount>{{{"team"}, 1, 0.3, {}}});
}

TEST_CASE("groups of users, and when they are asked for") {
    const auto groups =
        read_user_groups("GROUP_NAME    USERS\nmlteam       alice bob sub/ \nempty\nall_of_us all\n");
    CHECK(groups == restart::LsfGroups{{"mlteam", {"alice", "bob"}}, {"all_of_us", {"all"}}});
    const auto shares = read_shares(of_volclava);
    CHECK(restart::may_have_groups(shares, {"alice"}));
    CHECK_FALSE(restart::may_have_groups(shares, {"alice", "averyveryverylongname"}));
    CHECK_FALSE(restart::may_have_groups({}, {"alice"}));
}
