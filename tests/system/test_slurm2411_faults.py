"""Those of test_faults.py in which Slurm 24.11 and topology_rail have a part of their own."""

from test_faults import (test_a_missing_plugin_stops_slurmctld_with_its_name,  # noqa: F401
                         test_hosts_that_slurm_lacks_are_passed_over, test_nodes_outside_the_fabric_are_slurms)
from test_slurm2411 import NEEDS, options  # noqa: F401
