#include "sched/lsf/bsub.hpp"
#include "sched/lsf/job_line.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <map>
#include <random>
#include <string>
#include <vector>

using namespace sched;
using namespace sched::lsf;

namespace {

using Variables = std::map<std::string, std::string>;

Getenv in(const Variables& variables) {
    return [&variables](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    };
}
const Variables nothing;

Parameters parameters(std::string_view text) {
    auto parsed = Parameters::parse(text, "parm");
    REQUIRE(parsed);
    return *std::move(parsed);
}

Hints flags(const std::vector<std::string>& words) {
    auto hints = flags_of(words, in(nothing));
    REQUIRE(hints);
    return *std::move(hints);
}

// As bsub writes it on the engine.
std::string job(const std::string& before, const std::string& line = "./train.sh", int slots = 16) {
    return fmt::format("{}LSB_SUB_COMMANDNAME=\"x\"\nLSB_SUB_COMMAND_LINE=\"{}\"\nLSB_SUB_NUM_PROCESSORS={}\n"
                       "LSB_SUB_MAX_NUM_PROCESSORS={}\nLSB_SUB_ADDITIONAL=\"rail\"\n",
                       before, line, slots, slots);
}
const std::string gang = "LSB_SUB_QUEUE=\"gang\"\nLSB_SUB_RES_REQ=\"span[ptile=8]\"\n";

// Two units of three hosts each.
const Site site{{"gang", "gang2"}, "/bin/rail-lsf-run", Capacity{{{3, 3}}, 0}};

std::string refusal(std::string_view text, const Hints& hints, const Variables& variables = nothing) {
    const auto done = rewrite(parameters(text), hints, site, in(variables));
    REQUIRE_FALSE(done);
    return done.error().text;
}

std::string changes(std::string_view text, const Hints& hints, const Variables& variables = nothing) {
    const auto done = rewrite(parameters(text), hints, site, in(variables));
    INFO((done ? "" : done.error().text));
    REQUIRE(done);
    return done->changes.print();
}

} // namespace

TEST_CASE("a parameter file is read as bsub writes it") {
    const auto file = parameters("LSB_SUB_JOB_NAME=\"j\\\"q\"\nLSB_SUB_QUEUE=\"rail\"\nLSB_SUB_NOTIFY_END=Y\n"
                                 "LSB_SUB_RERUNNABLE=SUB_RESET\nLSB_SUB_HOSTS=\"n1 n2 \"\n"
                                 "LSB_SUB_COMMAND_LINE=\"sh -c 'echo \"hi\" 'there' \\ back'\"\n"
                                 "LSB_SUB_NUM_PROCESSORS=2\n");
    CHECK(file.text("LSB_SUB_JOB_NAME") == "j\"q");
    CHECK(file.yes("LSB_SUB_NOTIFY_END"));
    CHECK_FALSE(file.yes("LSB_SUB_RERUNNABLE"));
    CHECK(file.has("LSB_SUB_RERUNNABLE"));
    CHECK_FALSE(file.text("LSB_SUB_RERUNNABLE"));
    CHECK(file.text("LSB_SUB_HOSTS") == "n1 n2 ");
    CHECK(file.text("LSB_SUB_COMMAND_LINE") == "sh -c 'echo \"hi\" 'there' \\ back'");
    CHECK(*file.number("LSB_SUB_NUM_PROCESSORS") == 2U);
    CHECK_FALSE(*file.number("LSB_SUB_BEGIN_TIME"));
    CHECK_FALSE(file.number("LSB_SUB_QUEUE"));
}

TEST_CASE("a command of several lines is one value") {
    const auto file = parameters("LSB_SUB_COMMAND_LINE=\"echo a\n\necho LSB_SUB=1\"\nLSB_SUB_QUEUE=\"q\"\n");
    CHECK(file.text("LSB_SUB_COMMAND_LINE") == "echo a\n\necho LSB_SUB=1");
    CHECK(file.text("LSB_SUB_QUEUE") == "q");
}

TEST_CASE("a command cannot smuggle a parameter in") {
    const auto twice =
        Parameters::parse("LSB_SUB_QUEUE=\"gang\"\nLSB_SUB_COMMAND_LINE=\"a\nLSB_SUB_QUEUE=\"b\"\"\n", "F");
    REQUIRE_FALSE(twice);
    CHECK(twice.error().text ==
          "F:3: LSB_SUB_QUEUE stands there twice: a line of a command must not look like one "
          "of LSF's parameters");
    CHECK(Parameters::parse("garbage\n", "F").error().text ==
          "F:1: \"garbage\" is no parameter of a submission");
}

TEST_CASE("what is read of any text is printed and read back") {
    std::mt19937 random(7);
    const std::string alphabet = "LSB_SUB_A=\"\\\n Y1";
    for (int round = 0; round < 3000; ++round) {
        std::string text = random() % 2 == 0 ? "LSB_SUB_X=" : "";
        for (auto left = random() % 40; left > 0; --left)
            text += alphabet[random() % alphabet.size()];
        const auto first = Parameters::parse(text, "F");
        if (!first) continue;
        const auto second = Parameters::parse(first->print(), "F");
        REQUIRE(second);
        CHECK(second->print() == first->print());
    }
}

TEST_CASE("flags come from the environment and from bsub's -a, which counts first") {
    const Variables set{{"RAIL_SPAN", "pod"}, {"RAIL_CKPT_DIR", "/c"}, {"RAIL_ORDER", ""}};
    const auto hints =
        flags_of({"-r", "span=unit", "restart=auto", "restart_on=1", "40-50", "restart_max=2"}, in(set));
    REQUIRE(hints);
    CHECK(hints->span == Span::unit);
    CHECK(hints->ckpt_dir == "/c");
    CHECK(hints->restart == true);
    CHECK(to_string(*hints->restart_on) == "1,40-50");
    CHECK(hints->restart_max == 2U);
    CHECK_FALSE(hints->order);
    CHECK(flags({"kind=dcp"}).ckpt_kind == "dcp");
    CHECK(flags({"signal=USR1@ranks"}).ckpt_signal == "USR1@ranks");
    CHECK(flags({"span=unit,ckpt=/scratch/r7, restart=auto"}) ==
          flags({"span=unit", "ckpt=/scratch/r7", "restart=auto"}));
    CHECK(flags({"segment=2", "spares=1", "order=tree"}).segment == 2U);
    CHECK(flags({}).empty());

    CHECK(flags_of({"span=rack"}, in(nothing)).error().text ==
          "--rail-span=rack: must be domain, unit, pod or fabric, or one of these with @WAIT");
    const Variables bad{{"RAIL_RESTART", "perhaps"}};
    CHECK(flags_of({}, in(bad)).error().text ==
          "RAIL_RESTART in the environment: --restart=perhaps: must be auto or never");
    for (const char* word : {"spam=unit", "rail-span=unit", "unit", "=", "\x1b[1m"})
        CHECK(flags_of({word}, in(nothing)).error().text.find("no such word; there are span=") !=
              std::string::npos);
}

TEST_CASE("a preflight goes into the command of any job, by word or variable") {
    const Variables wanted{{"RAIL_PREFLIGHT", "quick,net"}};
    CHECK(preflight_of({}, in(nothing)).value().empty());
    CHECK(preflight_of({}, in(wanted)).value() == "quick,net");
    const std::vector<std::string> words{"span=unit", "preflight=full", "net"};
    CHECK(preflight_of(words, in(wanted)).value() == "full,net");
    CHECK(flags_of(words, in(nothing)).value() == flags({"span=unit"}));
    CHECK(preflight_of({"preflight=off"}, in(wanted)).value() == "off");
    const Variables bad{{"RAIL_PREFLIGHT", "fast"}};
    CHECK(preflight_of({}, in(bad))
              .error()
              .text.starts_with("RAIL_PREFLIGHT in the environment: --rail-preflight=fast: must be off, "
                                "quick, full or deep"));

    const auto line_of = [](const std::string& text, const std::string& preflight) {
        const auto done = rewrite(parameters(text), {}, site, in(nothing), preflight);
        REQUIRE(done);
        return done->changes.text("LSB_SUB_COMMAND_LINE").value_or("(as it is)");
    };
    const auto normal = job("LSB_SUB_QUEUE=\"normal\"\n");
    const std::string tried = "/bin/rail-lsf-run --rail-preflight=quick,net --line=./train.sh";
    CHECK(line_of(normal, "quick,net") == tried);
    CHECK(line_of(normal, "off") == "(as it is)");
    // What an esub before this one asked for stays, unless this one is told otherwise.
    const auto again = job("LSB_SUB_QUEUE=\"normal\"\n", tried);
    CHECK(line_of(again, "off") == "/bin/rail-lsf-run --line=./train.sh");
    CHECK(line_of(job(gang, tried), "") == tried);
    CHECK(parse_job_line(tried)->preflight == "quick,net");
}

TEST_CASE("the slots of each host are read where they are said plainly") {
    CHECK(ptile_of("span[ptile=8]") == Ptile{false, 8});
    CHECK(ptile_of("select[mem>4] span[ ptile = 8 ] rusage[mem=1]") == Ptile{false, 8});
    CHECK(ptile_of("span[hosts=1]") == Ptile{true, 0});
    for (const char* unknown :
         {"", "span[ptile='!']", "span[ptile='!',n64:8]", "span[hosts=-1]", "span[block=4]", "span[ptile=0]",
          "span[ptile=-8]", "span[", "span[ptile=8", "ptile=8", "{span[ptile=8]} || {span[ptile=4]}"})
        CHECK(ptile_of(unknown) == (std::string_view(unknown) == "span[ptile=8" ? Ptile{false, 8} : Ptile{}));
}

TEST_CASE("a job without flags stays as it is but in a parking queue") {
    CHECK(changes(job("LSB_SUB_QUEUE=\"normal\"\n"), {}).empty());
    CHECK(changes(job(""), {}).empty());
    // What is no business of ours is not judged either.
    CHECK(changes("LSB_SUB_HOSTS=\"n1 \"\nLSB_SUB_NUM_PROCESSORS=x\n", {}).empty());
    CHECK(changes(job(gang), {}) ==
          "LSB_SUB_JOB_NAME=\"train.sh\"\nLSB_SUB_COMMAND_LINE=\"/bin/rail-lsf-run --line=./train.sh\"\n");
    CHECK(changes(job("LSB_SUB_RES_REQ=\"span[ptile=8]\"\n"), {}, {{"LSB_DEFAULTQUEUE", "gang2"}}) ==
          changes(job(gang), {}));
}

TEST_CASE("flags go into the command, and the job becomes rerunnable") {
    const auto hints = flags({"span=unit", "ckpt=/r7", "restart=auto"});
    const std::string
        rerun = "LSB_SUB_RERUNNABLE=Y\n",
        name = "LSB_SUB_JOB_NAME=\"sh\"\n",
        line = "LSB_SUB_COMMAND_LINE=\"/bin/rail-lsf-run --rail-span=unit --restart=auto --ckpt-dir=/r7 "
               "--line=sh%20-c%20%27echo%20%22hi%22%27\"\n";
    CHECK(changes(job(gang, "sh -c 'echo \"hi\"'"), hints) == rerun + name + line);
    // Without a queue it gets one; the user's own name stays.
    CHECK(
        changes(job("LSB_SUB_JOB_NAME=\"mine\"\nLSB_SUB_RES_REQ=\"span[ptile=8]\"\n", "sh -c 'echo \"hi\"'"),
                hints) == "LSB_SUB_QUEUE=\"gang\"\n" + rerun + line);
    // Without a wish for hosts it may run in any queue, as LSF places it.
    CHECK(changes(job("LSB_SUB_QUEUE=\"normal\"\nLSB_SUB_HOSTS=\"n1 \"\n"), flags({"restart=auto"})) ==
          rerun + "LSB_SUB_JOB_NAME=\"train.sh\"\n" +
              "LSB_SUB_COMMAND_LINE=\"/bin/rail-lsf-run --restart=auto --line=./train.sh\"\n");
    // bjobs would take such a name for an array's.
    CHECK(changes(job(gang, "./a[1-3] x"), {}).find("JOB_NAME") == std::string::npos);
}

TEST_CASE("run twice it does what it does once") {
    const auto text = job(gang, "./train.sh 'a b'");
    auto twice = parameters(text);
    const auto first = rewrite(twice, flags({"span=unit", "restart=auto"}), site, in(nothing));
    REQUIRE(first);
    twice.put(first->changes);
    const auto again = rewrite(twice, flags({"span=unit", "restart=auto"}), site, in(nothing));
    REQUIRE(again);
    auto thrice = twice;
    thrice.put(again->changes);
    CHECK(thrice.print() == twice.print());
    // Flags of the second run count beside those of the first, and are judged together with them.
    const auto more = rewrite(twice, flags({"spares=1"}), site, in(nothing));
    REQUIRE(more);
    const auto line = parse_job_line(*more->changes.text("LSB_SUB_COMMAND_LINE"));
    REQUIRE(line);
    CHECK(line->hints == flags({"span=unit", "restart=auto", "spares=1"}));
    CHECK(line->line == "./train.sh 'a b'");
    CHECK_FALSE(rewrite(twice, flags({"segment=5"}), site, in(nothing)));
}

TEST_CASE("what cannot be placed is refused with a sentence") {
    const auto unit = flags({"span=unit"});
    CHECK(refusal(job(gang, "x", 32), unit) ==
          "--rail-span=unit: 4 nodes never fit, the largest unit of this fabric "
          "has 3: ask for --rail-span=pod or at most 3 nodes");
    CHECK(changes(job(gang, "x", 24), unit).find("--rail-span=unit") != std::string::npos);
    CHECK(refusal(job(gang, "x", 17), flags({"span=unit", "spares=3"})) ==
          "--rail-spares=3: of 3 nodes no node is left to run on: ask for more with -n, the spares are among "
          "them");
    CHECK(refusal(job("LSB_SUB_QUEUE=\"gang\"\n"), {}) ==
          "-n 16: does not say on how many hosts: add -R \"span[ptile=N]\", N being the slots that the job "
          "takes of "
          "each host");
    CHECK(changes(job("LSB_SUB_QUEUE=\"gang\"\n", "x", 1), {}).find("--line=x") != std::string::npos);
    CHECK(refusal(job("LSB_SUB_QUEUE=\"normal\"\n"), unit) ==
          "-q normal: Railyard does not place the jobs of this queue: say -q gang, or leave out the flags "
          "that say "
          "where the job is to run");
    CHECK(refusal(job("LSB_SUB_QUEUE=\"gang normal\"\n"), {}) ==
          "-q \"gang normal\": only some of these queues are placed by Railyard: name one");
    CHECK(refusal(job(gang + "LSB_SUB_HOSTS=\"n1 n2 \"\n"), {}) ==
          "-m \"n1 n2\": Railyard chooses the hosts of this queue's jobs: leave it out");
    CHECK(refusal(gang +
                      "LSB_SUB_COMMAND_LINE=\"x\"\nLSB_SUB_NUM_PROCESSORS=8\nLSB_SUB_MAX_NUM_PROCESSORS=16\n",
                  {}) == "-n 8,16: a job that Railyard places has one size: say -n 8 or -n 16");
    CHECK(refusal(gang + "LSB_SUB_NUM_PROCESSORS=99999999999\nLSB_SUB_COMMAND_LINE=\"x\"\n", {}) ==
          "-n 99999999999: is more than any cluster has");
    CHECK(refusal(gang, {}) ==
          "LSF does not say what the job's command is: lsf.conf needs LSB_SUB_COMMANDNAME=Y");
    CHECK(refusal(job(gang + "LSB_SUB_RERUNNABLE=N\n"), flags({"restart=auto"})) ==
          "--restart=auto: needs a job that may be requeued; leave out -rn or say --restart=never");
}

TEST_CASE("a script that LSF has joined into one line is carried as it was, or not at all") {
    const std::string joined = "#!/bin/bash;#BSUB -n 8;echo one   # two;sleep 1  ",
                      script = "#!/bin/bash\n#BSUB -n 8\n\necho one   # two\nsleep 1\n";
    CHECK(was_joined_from(joined, script));
    CHECK_FALSE(was_joined_from(joined, "#!/bin/bash\necho two\n"));
    auto known = site;
    known.input = [&] { return Script{"job.sh", script}; };
    const auto done = rewrite(parameters(job(gang, joined)), flags({"span=unit"}), known, in(nothing));
    REQUIRE(done);
    CHECK(parse_job_line(*done->changes.text("LSB_SUB_COMMAND_LINE"))->line == script);
    CHECK(done->changes.text("LSB_SUB_JOB_NAME") == "job.sh");
    // Run again, nothing is asked any more.
    auto twice = parameters(job(gang, joined));
    twice.put(done->changes);
    const auto again = rewrite(twice, flags({"span=unit"}), site, in(nothing));
    REQUIRE(again);
    CHECK(again->changes.text("LSB_SUB_COMMAND_LINE") == done->changes.text("LSB_SUB_COMMAND_LINE"));

    known.input = [] { return Script{"job.sh", "another\n"}; };
    CHECK_FALSE(rewrite(parameters(job(gang, joined)), flags({"span=unit"}), known, in(nothing)));
    known.input = [&] { return Script{"job.sh", script + '\0'}; };
    CHECK_FALSE(rewrite(parameters(job(gang, joined)), flags({"span=unit"}), known, in(nothing)));
    known.input = [] { return std::optional<Script>(); };
    for (const char* line :
         {"#!/bin/bash;#BSUB -n 8;echo one  ", "sleep 1;#BSUB -q x;echo", "echo one;sleep 1  "}) {
        CHECK_FALSE(rewrite(parameters(job(gang, line)), flags({"span=unit"}), known, in(nothing)));
        CHECK(refusal(job(gang, line), flags({"span=unit"})) ==
              "a script on bsub's standard input that is no file reaches no esub whole: put it into a file, "
              "bsub ... <job.sh");
        const auto plain = rewrite(parameters(job(gang, line)), {}, known, in(nothing));
        REQUIRE(plain);
        CHECK(plain->changes.empty());
        CHECK(plain->note.find("is submitted as it is") != std::string::npos);
    }
}

TEST_CASE("a job that submits another asks for no hosts in its name") {
    const Variables within{{"RAIL_JOB_ID", "12"}};
    const auto normal = job("LSB_SUB_QUEUE=\"normal\"\n");
    const auto done = rewrite(parameters(normal), flags({"span=unit"}), site, in(within));
    REQUIRE(done);
    CHECK(done->changes.empty());
    CHECK(done->note.find("have no effect in queue normal") != std::string::npos);
    CHECK_FALSE(rewrite(parameters(normal), flags({"span=unit"}), site, in(nothing)));
    CHECK(rewrite(parameters(job(gang)), flags({"span=unit"}), site, in(within))->note.empty());
}

TEST_CASE("a command is carried up to what LSF takes") {
    const std::string fits(longest_command - std::string("/bin/rail-lsf-run --line=").size(), 'x');
    CHECK(changes(job(gang, fits), {}).find(fits) != std::string::npos);
    CHECK(refusal(job(gang, fits + "x"), {}) ==
          "the job's command is too long: with its flags it has 4001 bytes, of "
          "which LSF takes 4000: put it into a script");
}

TEST_CASE("what has no effect is said, and not carried") {
    const auto done = rewrite(parameters(job(gang + "LSB_SUB_INTERACTIVE=Y\n")), flags({"restart=auto"}),
                              site, in(nothing));
    REQUIRE(done);
    CHECK(done->note ==
          "--restart=auto: has no effect here, only batch jobs (bsub without -I) can be started again");
    CHECK(done->changes.print().find("restart") == std::string::npos);
    CHECK_FALSE(done->changes.has("LSB_SUB_RERUNNABLE"));
    const auto max = rewrite(parameters(job(gang)), flags({"restart_max=2"}), site, in(nothing));
    REQUIRE(max);
    CHECK(max->note == "--restart-max: has no effect without --restart=auto");
}

TEST_CASE("where gangs wait held, each is, and what its user held says so") {
    auto holding = site;
    holding.held = true;
    const auto print = [&](const std::string& before, const std::string& line) {
        const auto done = rewrite(parameters(job(before, line)), flags({"span=unit"}), holding, in(nothing));
        REQUIRE(done);
        return done->changes.print();
    };
    const auto once = print(gang, "./train.sh");
    CHECK(once.find("LSB_SUB_HOLD=Y\n") != std::string::npos);
    CHECK(once.find("--hold") == std::string::npos);
    const auto his = print(gang + "LSB_SUB_HOLD=Y\n", "./train.sh");
    CHECK(his.find("LSB_SUB_HOLD=Y\n") != std::string::npos);
    CHECK(his.find(" --hold=user --line=./train.sh") != std::string::npos);
    // Run twice it finds its own hold, which does not become his.
    CHECK(print(gang + "LSB_SUB_HOLD=Y\n", "/bin/rail-lsf-run --rail-span=unit --line=./train.sh")
              .find("--hold") == std::string::npos);
    CHECK(print(gang + "LSB_SUB_HOLD=Y\n", "/bin/rail-lsf-run --rail-span=unit --hold=user --line=./train.sh")
              .find("--hold=user") != std::string::npos);
    // Elsewhere holds are left to their users.
    const auto parked =
        rewrite(parameters(job(gang + "LSB_SUB_HOLD=Y\n")), flags({"span=unit"}), site, in(nothing));
    REQUIRE(parked);
    CHECK(parked->changes.print().find("hold") == std::string::npos);
    const auto other = rewrite(parameters(job("")), flags({"restart=auto"}), holding, in(nothing));
    REQUIRE(other);
    CHECK(other->changes.print().find("HOLD") == std::string::npos);
}

TEST_CASE("a site without a parking queue places nothing") {
    const Site none{{}, "/bin/rail-lsf-run", {}};
    CHECK_FALSE(rewrite(parameters(job("")), flags({"span=unit"}), none, in(nothing)));
    CHECK(rewrite(parameters(job("")), flags({"restart=auto"}), none, in(nothing)));
}
