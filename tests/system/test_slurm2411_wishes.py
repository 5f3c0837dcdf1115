"""Those of test_wishes.py in which Slurm 24.11 and topology_rail have a part of their own."""

from test_slurm2411 import NEEDS, options  # noqa: F401
from test_wishes import (test_hosts_are_kept_free_for_restarts, test_oversubscribed_nodes_have_room,  # noqa: F401
                         test_segments_are_never_split, test_small_jobs_do_not_starve_a_wish,
                         test_spares_lie_inside_the_allocation, test_what_exclusion_makes_impossible_is_refused)
