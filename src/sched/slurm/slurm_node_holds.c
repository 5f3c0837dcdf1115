#include "slurm_inside.h"

#include "slurm_node_holds.h"

void node_holds_correct(void) {
    for (int i = 0; i < node_record_count; i++) {
        node_record_t* node = node_record_table_ptr[i];
        /* Suspended jobs are in neither count. */
        if (!node || !node->no_share_job_cnt || node->run_job_cnt) continue;
        /* select_nodes() may restore an older copy of the bitmap after this: the count remains until the
         * bit is set. */
        if (bit_test(share_node_bitmap, i))
            node->no_share_job_cnt = 0;
        else
            bit_set(share_node_bitmap, i);
    }
}
