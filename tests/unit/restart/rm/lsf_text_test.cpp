// LSF's texts as an engine with its commands wrote them, and as somebody would write them who wants to pass
// for another.

#include "restart/rm/lsf_text.hpp"

#include "base/time_text.hpp"
#include "sched/lsf/job_line.hpp"

#include <catch2/catch.hpp>

#include <ctime>

using base::JobId;

namespace {

const std::string list =
    "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
    "118     alice   RUN   rail       ctl         4*n4:4*n2:4*n6:4*n1 train-run  Nov 22 01:35\n"
    "119     alice   RUN   normal     ctl         n8          one        Nov 22 01:35\n"
    "124     alice   RUN   normal     ctl         n8          arr[2]     Nov 22 01:35\n"
    "120     alice   PSUSP rail       ctl            -        held job   Nov 22 01:35\n"
    "123     alice   PEND  rail       ctl            -        pend       Nov 22 01:35\n";

const std::string details =
    "\n"
    "Job <118>, Job Name <train-run>, User <alice>, Project <default>, Status <RUN>, Queue <rail>, Command "
    "<bash -c 'echo started on $LSB_MCPU_HOSTS; sleep 600 > x'>\n"
    "Sun Nov 22 01:35:27: Submitted from host <ctl>, CWD <$HOME>, Output File </home/alice/%J.out>, "
    "Re-runnable, 16 Task(s), Requested Resources <span[ptile=4]>, Specified Hosts <n4+4>, <n2+3>, <n6+2>, "
    "<n1+1>;\n"
    "Sun Nov 22 01:35:30: Started 16 Task(s) on Host(s) <n4> <n4>, Allocated 16 Slot(s) on Host(s) <n4> "
    "<n4>, Execution Home </home/alice>, Execution CWD </home/alice>;\n"
    "\n"
    " SCHEDULING PARAMETERS:\n"
    "           r15s   r1m  r15m   ut      pg    io   ls    it    tmp    swp    mem\n"
    "\n"
    "------------------------------------------------------------------------------\n"
    "\n"
    "Job <106>, User <alice>, Project <default>, Status <PEND>, Queue <rail>, Command <sleep 1>, Job "
    "Description <unit=2>\n"
    "Sun Nov 22 01:35:10: Submitted from host <ctl> with hold, CWD <$HOME>, Re-runnable, 8 Processors "
    "Requested;\n"
    "\n"
    " RUNLIMIT                \n"
    " 60.0 min                \n"
    " PENDING REASONS:\n"
    " Not enough job slot(s): 7 hosts;\n";

base::Time moment(int year, int month, int day, int hour, int minute, int second) {
    std::tm at{};
    at.tm_year = year - 1900;
    at.tm_mon = month - 1;
    at.tm_mday = day;
    at.tm_hour = hour;
    at.tm_min = minute;
    at.tm_sec = second;
    at.tm_isdst = -1;
    return std::chrono::time_point_cast<base::Duration>(
        std::chrono::system_clock::from_time_t(std::mktime(&at)));
}

const auto now = moment(2026, 11, 23, 12, 0, 0);

} // namespace

TEST_CASE("a list of jobs is read in its order") {
    const auto rows = restart::read_job_rows(list);
    REQUIRE(rows);
    REQUIRE(rows->size() == 5);
    CHECK((*rows)[0].id == JobId(118));
    CHECK((*rows)[0].user == "alice");
    CHECK((*rows)[0].state == "RUN");
    CHECK((*rows)[0].queue == "rail");
    CHECK((*rows)[0].hosts.names == std::vector<std::string>{"n4", "n2", "n6", "n1"});
    CHECK((*rows)[0].hosts.slots == 16);
    CHECK((*rows)[2].id == JobId(124U, 2));
    CHECK((*rows)[3].state == "PSUSP");
    CHECK((*rows)[3].hosts.names.empty());
    CHECK(restart::read_job_rows("")->empty()); // "No unfinished job found"
    CHECK_FALSE(restart::read_job_rows("something else\n"));
}

TEST_CASE("hosts are read with and without the number of their slots") {
    CHECK(restart::read_hosts("4*n4:4*n2") == restart::read_hosts("n4:n4:n4:n4:n2:n2:n2:n2"));
    CHECK(restart::read_hosts("-").names.empty());
    CHECK(restart::read_hosts("x*n4:n2").names == std::vector<std::string>{"n2"});
}

TEST_CASE("details of jobs are read") {
    const auto jobs = restart::read_job_details(details, now);
    REQUIRE(jobs.size() == 2);
    const auto& running = jobs.at(JobId(118));
    CHECK(running.title == "train-run");
    CHECK(running.user == "alice");
    CHECK(running.state == "RUN");
    CHECK(running.command == "bash -c 'echo started on $LSB_MCPU_HOSTS; sleep 600 > x'");
    CHECK(running.least == 16);
    CHECK(running.ptile == 4);
    CHECK(running.rerunnable);
    CHECK(running.asked_hosts == std::vector<std::string>{"n4", "n2", "n6", "n1"});
    CHECK(running.submitted == moment(2026, 11, 22, 1, 35, 27));
    CHECK(running.started == moment(2026, 11, 22, 1, 35, 30));
    CHECK_FALSE(running.run_limit);
    const auto& waiting = jobs.at(JobId(106));
    CHECK(waiting.command == "sleep 1");
    CHECK(waiting.least == 8);
    CHECK(waiting.run_limit == base::Duration(3'600'000));
    CHECK(waiting.why == "Not enough job slot(s): 7 hosts;");
}

TEST_CASE("a moment without a year is the last one that is not ahead") {
    const auto january = moment(2027, 1, 2, 3, 4, 5);
    CHECK(restart::read_job_details(details, january).at(JobId(118)).started ==
          moment(2026, 11, 22, 1, 35, 30));
}

TEST_CASE("the end of a job is read") {
    const auto jobs = restart::read_job_details(
        "\nJob <122>, Job Name <bad>, User <alice>, Project <default>, Status <EXIT>, Queue <normal>, "
        "Command "
        "<bash -c \"exit 7\">\n"
        "Sun Nov 22 01:35:27: Submitted from host <ctl>, CWD <$HOME>;\n"
        "Sun Nov 22 01:35:30: Started on <n8>, Execution Home </home/alice>, Execution CWD </home/alice>;\n"
        "Sun Nov 22 01:35:30: Exited with exit code 7. The CPU time used is 0.0 seconds.\n",
        now);
    CHECK(jobs.at(JobId(122)).exit_code == 7U);
    CHECK_FALSE(jobs.at(JobId(122)).done);
    const auto well = restart::read_job_details(
        "\nJob <123>, Job Name <good>, User <alice>, Project <default>, Status <DONE>, Queue <normal>, "
        "Command <true>\n"
        "Sun Nov 22 01:35:30: Started on <n8>, Execution Home </home/alice>, Execution CWD </home/alice>;\n"
        "Sun Nov 22 01:35:31: Done successfully. The CPU time used is 0.0 seconds;\n",
        now);
    CHECK(well.at(JobId(123)).done == moment(2026, 11, 22, 1, 35, 31));
}

TEST_CASE("a signal that ended a job is told as a shell does") {
    const auto jobs = restart::read_job_details(
        "\nJob <122>, Job Name <bad>, User <alice>, Project <default>, Status <EXIT>, Queue <normal>, "
        "Command <sleep 60>\n"
        "Sun Nov 22 01:35:30: Started on <n8>, Execution Home </home/alice>, Execution CWD </home/alice>;\n"
        "Sun Nov 22 01:35:32: Exited by signal 9. The CPU time used is 0.0 seconds;\n",
        now);
    CHECK(jobs.at(JobId(122)).exit_code == 137U);
}

TEST_CASE("whether a person ended a job's last run stands in its history") {
    const std::string head =
        "\nJob <24>, User <alice>, Project <default>, Command <sleep 600>\n"
        "Sun Nov 22 01:21:19: Submitted from host <ctl>, to Queue <rail>, CWD <$HOME>;\n"
        "Sun Nov 22 01:21:22: Dispatched to <n7>;\nSun Nov 22 01:21:22: Starting (Pid 678);\n";
    const std::string killed =
        "Sun Nov 22 01:21:33: Signal <KILL> requested by user or administrator <lsfadmin\n"
        "                     >;\n";
    const std::string ended =
        "Sun Nov 22 01:21:34: Exited with exit code 130. The CPU time used is 0.0 second\n"
        "                     s;\n";
    CHECK_FALSE(restart::ended_by_person(head + ended));
    CHECK(restart::ended_by_person(head + killed + ended));
    const std::string requeued =
        "Sun Nov 22 01:21:24: Signal <REQUEUE_PEND> requested by user or administrator \n"
        "                     <root>;\n";
    CHECK_FALSE(restart::ended_by_person(head + requeued + ended));
    // Of the run before: this one ended otherwise.
    CHECK_FALSE(restart::ended_by_person(head + killed + ended +
                                         "Sun Nov 22 01:22:22: Dispatched to <n8>;\n" + ended));
    // IBM Spectrum LSF 10.1, bhist(1).
    CHECK(restart::ended_by_person(
        head + "Sun Nov 22 01:21:34: Exited with exit code 130. The CPU time used is 0.0 se\n"
               "                     conds; TERM_OWNER: job killed by owner.;\n"));
    // What a user calls a job is not said of it.
    CHECK_FALSE(restart::ended_by_person(
        "\nJob <24>, Job Name <x: Signal <KILL> requested by user or administrator>\n" +
        head.substr(head.find("Sun")) + ended));
    CHECK_FALSE(restart::ended_by_person(""));
}

TEST_CASE("what a user calls a job does not pass for LSF's words about another") {
    const auto twice =
        restart::read_job_rows(list + "5 root RUN gang ctl 8*n1 x Nov 22 01:35\n" + list.substr(82));
    REQUIRE(twice); // those that stand there twice are told apart by who reads them (lsf_jobs.hpp)
    // A name with a line break that looks like another job.
    const auto forged = restart::read_job_details(
        details + "\nJob <7>, Job Name <a>, User <bob>, Project <default>, Status <PEND>, Queue <gang>, "
                  "Command <b>\nJob <118>, User <root>, Project <x>, Status <PEND>, Queue <q>, Command <c>\n",
        now);
    CHECK_FALSE(forged.contains(JobId(118)));
    CHECK(forged.contains(JobId(7)));
    const auto named = restart::read_job_details(
        "\nJob <7>, Job Name <a>, User <root>, Project <p>, Status <RUN>, Queue <q>>, User <bob>, Project "
        "<default>, Status <PEND>, Queue <gang>, Command <b>\n",
        now);
    CHECK(named.at(JobId(7)).user ==
          "root"); // which is not the user of its row: it is refused (lsf_jobs.hpp)
}

TEST_CASE("a name of several lines is one name, and what it looks like is no other job") {
    const std::string rest = ", User <bob>, Project <default>, Status <PEND>, Queue <gang>, Command <b>\n"
                             "Sun Nov 22 01:35:27: Submitted from host <ctl>, CWD <$HOME>, 16 Processors "
                             "Requested;\n";
    const auto jobs = restart::read_job_details("\nJob <7>, Job Name <a\nJob <118>\nb>" + rest +
                                                    "\nJob <8>, "
                                                    "Job Name <c>" +
                                                    rest,
                                                now);
    REQUIRE(jobs.size() == 2);
    CHECK(jobs.at(JobId(7)).user == "bob");
    CHECK(jobs.at(JobId(7)).least == 16);
    CHECK(jobs.at(JobId(8)).title == "c");
    // One that was asked for alone is the first, whatever follows in its name.
    const auto alone = restart::read_job_details("\nJob <7>, Job Name <x>, User <bob>, Project <p>, Status "
                                                 "<RUN>, Queue <gang>, Command <c>\nJob <7>, User "
                                                 "<root>>" +
                                                     rest,
                                                 now, true);
    REQUIRE(alone.size() == 1);
    CHECK(alone.at(JobId(7)).user == "bob");
    CHECK(restart::read_job_details("\nJob <7>, Job Name <" + std::string(100'000, '\n'), now)
              .at(JobId(7))
              .user.empty());
}

TEST_CASE("of rows of one job the one that LSF gives of it alone is left") {
    std::vector<restart::LsfJobRow> rows;
    for (const std::uint64_t number : {5U, 6U, 5U, 7U, 7U})
        rows.push_back({JobId(number), "user" + std::to_string(rows.size()), "PEND", "gang", {}});
    std::vector<JobId> asked;
    const auto ask = [&](JobId id) -> base::Expected<restart::LsfJobRow> {
        asked.push_back(id);
        if (id == 7) return base::Error{base::Code::unavailable, "LSF is down"};
        if (id == 6) return base::Error{base::Code::not_found, "it has ended"};
        return restart::LsfJobRow{id, "alice", "RUN", "gang", restart::read_hosts("8*n1")};
    };
    const auto odd = [](const restart::LsfJobRow& row) { return row.id == 6; };
    auto few = rows;
    restart::tell_rows_apart(few, 0, odd, ask);
    CHECK(few == rows);
    CHECK(asked.empty());
    restart::tell_rows_apart(rows, 16, odd, ask);
    CHECK(asked == std::vector<JobId>{5, 6, 7});
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].user == "alice");
    CHECK(rows[1].user == "user3");
    CHECK(rows[2].user == "user4");
}

TEST_CASE("a job's flags come back from its command") {
    sched::Hints hints;
    hints.span = sched::Span::unit;
    hints.restart = true;
    const auto line =
        sched::lsf::job_line(hints, "./train.sh --name \"a > b\" && 'c'", "/usr/bin/rail-lsf-run");
    const auto jobs = restart::read_job_details("\nJob <9>, User <alice>, Project <default>, Status <PEND>, "
                                                "Queue <gang>, Command <" +
                                                    line + ">, Job Description <x>\n",
                                                now);
    const auto parsed = sched::lsf::parse_job_line(jobs.at(JobId(9)).command);
    REQUIRE(parsed);
    CHECK(parsed->hints == hints);
    CHECK(parsed->line == "./train.sh --name \"a > b\" && 'c'");
}

TEST_CASE("hosts, their notes and queues are read") {
    const auto hosts = restart::read_host_rows(
        "HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV \n"
        "ctl                ok                 -      1      0      0      0      0      0\n"
        "n7                 closed_Full        -      8      8      8      0      0      0\n"
        "n8                 unavail            -      -      0      0      0      0      0\n");
    REQUIRE(hosts);
    REQUIRE(hosts->size() == 3);
    CHECK((*hosts)[1] == restart::LsfHostRow{"n7", "closed_Full", 8, 8});
    CHECK((*hosts)[2].slots == 0);
    CHECK_FALSE(restart::read_host_rows("LSF is down. Please wait ...\n"));

    const auto notes = restart::read_host_notes(
        "HOST  n3\nSTATUS           CPUF  JL/U    MAX\nclosed_Adm     100.00     -      8\n\n"
        "ADMIN ACTION COMMENT:  railyard[i-7]: link down on mlx5_3\n\n"
        "HOST  n4\nclosed_Adm\nADMIN ACTION COMMENT: \"fan\"\nHOST  n5\nok\n");
    CHECK(notes.at("n3") == "railyard[i-7]: link down on mlx5_3");
    CHECK(notes.at("n4") == "fan");
    CHECK(notes.at("n5").empty());

    const auto queues = restart::read_queue_priorities(
        "QUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP \n"
        "rail             40  Open:Active       -    -    -    -    16     8     8     0\n");
    REQUIRE(queues);
    CHECK(queues->at("rail") == 40);
}

// By IBM's pages of LSF 10.1 (bjobs -o); made by hand, such an LSF was never seen.
TEST_CASE("the list of LSF 10.1, in fields") {
    const auto rows = restart::read_job_fields("101^0^RUN^alice^gang^8*n4:8*n2\n"
                                               "9007199254740993^-^PEND^bob^normal^-\n"
                                               "102^7^PSUSP^DOMAIN\\carol^gang^-\n\n"
                                               "103[8]^8^RUN^alice^gang^n1:n1:n3\n");
    REQUIRE(rows);
    CHECK(*rows ==
          std::vector<restart::LsfJobRow>{{base::JobId(101), "alice", "RUN", "gang", {{"n4", "n2"}, 16}},
                                          {base::JobId(9'007'199'254'740'993U), "bob", "PEND", "normal", {}},
                                          {base::JobId(102U, 7), "DOMAIN\\carol", "PSUSP", "gang", {}},
                                          {base::JobId(103U, 8), "alice", "RUN", "gang", {{"n1", "n3"}, 3}}});
    CHECK(restart::read_job_fields("")->empty());
    for (const auto* bad : {"JOBID USER", "101^0^RUN^alice^gang", "101^0^RUN^alice^gang^-^x", "x^0^RUN^a^g^-",
                            "0^0^RUN^a^g^-", "101^-1^RUN^a^g^-", "101^0^^a^g^-"}) {
        INFO(bad);
        const auto read = restart::read_job_fields(std::string("101^0^RUN^alice^gang^n1\n") + bad + "\n");
        REQUIRE_FALSE(read);
        CHECK(read.error().code == base::Code::unfit);
    }
}

TEST_CASE("which LSF has fields") {
    CHECK(restart::has_job_fields("IBM Spectrum LSF Standard 10.1.0.13, Apr 30 2023\nCopyright\n"));
    CHECK(restart::has_job_fields("IBM Spectrum LSF 11.0"));
    CHECK_FALSE(restart::has_job_fields("IBM Platform LSF Standard 9.1.3.0, Jul 04 2014"));
    CHECK_FALSE(restart::has_job_fields("IBM Spectrum LSF 10"));
    CHECK_FALSE(restart::has_job_fields("IBM Spectrum LSF"));
    CHECK_FALSE(restart::has_job_fields("volclava project 2.2, Nov 22 2026\n"));
    CHECK_FALSE(restart::has_job_fields(""));
}

// The head as IBM's page of bjobs -UF has it.
TEST_CASE("what LSF 10.1 writes behind a command is none of it") {
    for (const std::string behind :
         {"", ", Share group charged </alice>", ", Job Description <x>, Esub <rail>"}) {
        const auto jobs = restart::read_job_details(
            "Job <7>, User <alice>, Project <default>, Status <PEND>, Queue <gang>, Command "
            "</usr/bin/rail-lsf-run --rail-span=unit --line=train>" +
                behind +
                "\nTue May  6 15:45:10: Submitted from host <hostA>, CWD </home>, 16 Task(s), Requested "
                "Resources "
                "<span[ptile=8]>;\n",
            base::time_from_seconds(1'790'000'000));
        REQUIRE(jobs.contains(base::JobId(7)));
        CHECK(jobs.at(7).command == "/usr/bin/rail-lsf-run --rail-span=unit --line=train");
        CHECK(jobs.at(7).least == 16);
    }
}
