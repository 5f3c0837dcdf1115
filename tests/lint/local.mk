# Rules for the source tree; each is a script that exits 1 and lists the places.
lint_tests = %D%/headers %D%/includes %D%/manual %D%/map %D%/released %D%/symbols %D%/text %D%/types
TESTS += $(lint_tests)
EXTRA_DIST += $(lint_tests)
