"""The tests of test_slurm2411.py and test_wishes.py that every newer release of Slurm passes as well."""

from test_slurm2411 import (test_jobs_stay_in_one_unit, test_span_waits_where_stock_spreads,  # noqa: F401
                            test_waiting_jobs_get_an_estimate, test_impossible_spans_are_refused,
                            test_required_and_excluded_nodes_count, test_gangs_without_a_span_are_packed,
                            test_drained_nodes_do_not_make_a_job_impossible, test_accepted_jobs_are_never_held,
                            test_requeued_jobs_keep_their_span, test_tasks_and_ranges, test_gpus_are_taken,
                            test_restart_and_reconfigure_lose_nothing, test_a_broken_fabric_keeps_the_last)
from test_wishes import (test_hosts_are_kept_free_for_restarts, test_segments_are_never_split,  # noqa: F401
                         test_spares_lie_inside_the_allocation)
