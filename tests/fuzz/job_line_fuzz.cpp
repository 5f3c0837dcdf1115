// A client of the job socket: whatever it says, each line has an answer of one line that is JSON, and what
// restartd is told of it in the end is a report that it takes.
#include "base/json.hpp"
#include "base/split.hpp"
#include "restart/watch/job_session.hpp"
#include "restart/wire/job_lines.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace restart;
    JobBook book;
    UcxBook ucx;
    base::Time now{std::chrono::seconds(1'700'000'000)};
    JobSession session(book, ucx, 1000);
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    while (!rest.empty() && !session.hopeless()) {
        const auto answer = session.answer(base::next_part(rest, '\n'), now);
        if (answer.empty() || answer.back() != '\n' || answer.find('\n') != answer.size() - 1 ||
            answer.size() > longest_job_answer || !base::parse_json(answer))
            std::abort();
        now += std::chrono::seconds(1);
    }
    Report report;
    report.host = report.boot_id = "n001";
    report.jobs = book.entries();
    if (!Report::from_json(report.to_json())) std::abort();
    return 0;
}
