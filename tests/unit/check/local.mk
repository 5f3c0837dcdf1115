TESTS += %D%/railcheck_test.py
EXTRA_DIST += %D%/railcheck_test.py
