# README's way for a site, on hosts with a real systemd: a stage of tests/run.
EXTRA_DIST += $(addprefix %D%/,cluster.py firstday_test.py hosts.py killed_test.py readme.py walk.py)
