// A job's admin_comment: what was read is written so that it is read again, and text of others stays.
#include "sched/slurm/admin_comment.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view comment(reinterpret_cast<const char*>(data), size);
    const auto had = sched::had_in(comment, 1);
    const auto kept = sched::with_had(comment, 0, {"n1", "n2"});
    if (sched::had_in(kept, 1) != std::vector<std::string>{"n1", "n2"}) std::abort();
    if (!had.empty() && sched::with_had(comment, 7, {}).size() >= comment.size()) std::abort();
    const auto hints = sched::parse_comment(comment);
    if (!hints) {
        if (!hints.error().text.starts_with("railyard comment: ")) std::abort();
        return 0;
    }
    const auto written = sched::merge_comment(comment, *hints);
    const auto again = sched::parse_comment(written);
    if (!again || *again != *hints || sched::merge_comment(written, *again) != written) std::abort();
    return 0;
}
