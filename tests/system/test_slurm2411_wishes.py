"""test_wishes.py on Slurm 24.11, with topology_rail in place of select_rail."""

from test_slurm2411 import NEEDS, options  # noqa: F401
from test_wishes import *  # noqa: F401,F403
