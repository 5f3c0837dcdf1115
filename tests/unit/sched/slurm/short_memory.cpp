// What slurmctld's plugins call, with an allocation that fails at the first, second, third … request for
// memory, or from there on: no exception and no abort, "no opinion" meanwhile, and advice again when there is
// memory. A program of its own, since it replaces operator new.
#include "sched/slurm/advisor.h"
#include "sched/slurm/submit.h"

#include "base/file.hpp"
#include "topo/fabric_json.hpp"
#include "topo/synth/synth.hpp"
#include "unit/patience.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

std::atomic<bool> armed = false;
std::atomic<bool> lasting = false; // not one request fails but all from there on
std::atomic<long> left = 0;        // requests until one fails
std::atomic<long> failures = 0;

bool fails() {
    if (!armed) return false;
    const auto before = left.fetch_sub(1);
    if (before > 1 || (before < 1 && !lasting)) return false;
    ++failures;
    return true;
}

} // namespace

void* operator new(std::size_t size) {
    if (!fails())
        if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
    return operator new(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

void require(bool holds, const char* what, long at) {
    if (holds) return;
    std::printf("not ok: %s, when request %ld for memory fails%s\n", what, at,
                lasting ? " and all after it" : "");
    std::fflush(stdout);
    std::_Exit(1);
}

void no_log(rail_level, const char*) {}

// Places, asks and submits as the plugins do; whether there was advice.
bool ask(rail_advisor* advisor, bool hard) {
    static const char* const names[] = {"n001", "n002", "n003", "n004", "n005", "n006", "n007", "n008"};
    rail_advisor_set_nodes(advisor, names, 8);
    static const char* const variables[] = {"RAIL_SPAN=unit", "RAIL_SEGMENT=2"};
    rail_question question{};
    rail_hints_of("railyard:span=pod", variables, hard ? 2 : 0, &question.hints);
    static const std::int64_t free_at[] = {0, 0, 0, 40, 50, 60, 0, 70};
    const std::uint32_t others[] = {0, 1};
    question.least = question.wanted = 4;
    question.now = question.eligible = 1;
    question.spare_floor = rail_advisor_spare_floor(advisor, others, 2);
    question.node_count = 8;
    question.free_at = free_at;
    rail_plan* plan = rail_advisor_plan(advisor, &question);
    if (plan == nullptr) return false;
    rail_attempt attempt{};
    for (int i = 0; i < 8 && rail_plan_next(plan, &attempt); ++i)
        require(attempt.count >= 4 && attempt.why != nullptr, "an attempt has nodes and a reason", -1);
    static_cast<void>(rail_plan_waits(plan) && rail_plan_undecided(plan) && rail_plan_unfit(plan));
    rail_plan_free(plan);
    return true;
}

void submit(rail_gate* gate) {
    static const char* const variables[] = {"RAIL_SPAN=unit", "RAIL_SEGMENT=2", "RAIL_RESTART=auto"};
    const rail_submission submission{
        variables, 3,    "a comment that is longer than what a string holds itself", 4, 0, true, false, -1, 0,
        false,     false};
    rail_verdict verdict{};
    rail_gate_submit(gate, &submission, &verdict);
    require(verdict.accepted, "a sound job is accepted", -1);
    const rail_change change{verdict.admin_comment, "another comment, without what Railyard wrote there", 4,
                             4};
    rail_verdict changed{};
    rail_gate_change(gate, &change, &changed);
    require(changed.accepted, "a sound change is accepted", -1);
    for (char* text : {verdict.message, verdict.admin_comment, changed.message, changed.admin_comment})
        std::free(text);
}

// A life of both plugins of which one request fails; false: it had fewer. Sound again afterwards.
bool life(long at) {
    left = at;
    failures = 0;
    armed = true;
    rail_advisor* advisor = rail_advisor_open(no_log);
    if (advisor != nullptr) {
        ask(advisor, true);
        ask(advisor, false);
        rail_advisor_reload(advisor);
        ask(advisor, true);
    }
    rail_gate* gate = rail_gate_open(no_log);
    if (gate != nullptr) submit(gate);
    armed = false;
    const bool reached = failures > 0;
    if (advisor != nullptr) {
        rail_advisor_reload(advisor);
        const bool advised = test::eventually([&] { return ask(advisor, true); });
        require(advised, "there is advice when there is memory again", at);
        rail_advisor_close(advisor);
    }
    if (gate != nullptr) {
        submit(gate);
        rail_gate_close(gate);
    }
    return reached;
}

// The thread that follows the files has no memory, and has it again; nobody reloads.
void thread_without_memory() {
    rail_advisor* advisor = rail_advisor_open(no_log);
    require(advisor != nullptr && ask(advisor, true), "there is advice", 0);
    left = 1;
    failures = 0;
    lasting = armed = true;
    rail_advisor_reload(advisor);
    test::eventually([] { return failures > 0; }); // allocates nothing itself
    armed = false;
    require(failures > 0, "the files are looked at", 1);
    require(ask(advisor, true), "the fabric that was read stays in use", 1);
    rail_advisor_close(advisor);
    lasting = false;
}

} // namespace

int main() {
    char made[] = "/tmp/rail-memory-XXXXXX";
    if (::mkdtemp(made) == nullptr) return 1;
    const std::filesystem::path folder = made;
    const auto fabric = folder / "fabric.json";
    const bool stored =
        base::write_file(folder / "railyard.conf", "[placement]\nfabric = \"" + fabric.string() + "\"\n") &&
        base::write_file(fabric, topo::print_fabric(*topo::synthesise(
                                     *topo::parse_synth("pods=1 units=2 hosts=4 rails=1"))));
    require(stored, "the files are stored", 0);
    ::setenv("RAILYARD_CONF", (folder / "railyard.conf").c_str(), 1);
    thread_without_memory();
    long lives = 0;
    for (const bool all : {false, true}) {
        lasting = all;
        // Nearly all requests are those of reading the file: of these some will do.
        for (long at = 1; life(at); at += at < 200 ? 1 : 1 + at / 40)
            ++lives;
    }
    std::printf("ok: %ld lives\n", lives);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return lives > 100 ? 0 : 1;
}
