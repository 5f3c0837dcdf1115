# ucx_view_test.cpp is in unit_watch, which has the agent's reader of lines.
TESTS += %D%/preload_test.py
EXTRA_DIST += %D%/preload_test.py %D%/ucp_double.c %D%/ucx_plugin.c
