# A bare machine: what is fetched and made there before anything of ours runs, with archives made up by the tests.
bare_tests = %D%/build_test.py %D%/cold_test.py %D%/debian13_root_test.py %D%/debian_packages_test.py %D%/side_by_side_test.py \
	%D%/nvml_header_test.py %D%/sets_test.py %D%/slurm_source_test.py %D%/stages_test.py %D%/stops_test.py %D%/unity_test.py
TESTS += $(bare_tests)
EXTRA_DIST += $(bare_tests) %D%/archive.py
