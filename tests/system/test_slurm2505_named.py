"""topology.yaml in a real Slurm 25.05, where a root directory has one: the tests of 25.11."""

from test_slurm2511_named import (named, test_all_nodes_are_one_flat_topology,  # noqa: F401
                                  test_gangs_without_a_span_are_packed, test_reconfiguration_keeps_them,
                                  test_spans_are_kept_in_each_topology, test_they_stand_in_for_slurms_own)

NEEDS = ["railtopo"]


def options(build):
    return named(build, "25.05")
