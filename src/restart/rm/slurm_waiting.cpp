#include "restart/rm/slurm_waiting.hpp"

#include "restart/rm/slurm_reading.hpp"
#include "sched/slurm/admin_comment.hpp"

#include <utility>

namespace restart {

WaitingTexts texts_of(const WaitingChange& wanted, const job_info_t& record) {
    WaitingTexts texts;
    texts.excluded = merged_exclusion(text_of(record.exc_nodes), wanted.exclude, wanted.readmit);
    texts.required = rewritten_requirement(text_of(record.req_nodes), wanted.unasked);
    if (!wanted.comment.empty()) {
        const auto before = text_of(record.comment);
        auto after = sched::with_part(before, sched::comment_label, wanted.comment);
        if (after != before) texts.comment = std::move(after);
    }
    if (!wanted.had.empty()) {
        const auto before = text_of(record.admin_comment);
        auto after = sched::with_had(before, wanted.start, wanted.had);
        if (after != before) texts.admin_comment = std::move(after);
    }
    return texts;
}

} // namespace restart
