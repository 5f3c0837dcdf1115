# The examples whose frameworks are not here, over doubles of these.
TESTS += %D%/frameworks_test.py %D%/prometheus_test.py
EXTRA_DIST += %D%/against_sources %D%/alerts.yml %D%/doubles.py %D%/frameworks_test.py %D%/prometheus_test.py
