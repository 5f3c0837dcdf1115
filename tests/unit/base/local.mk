tests_unit_unit_base_SOURCES = %D%/host_group_test.cpp %D%/host_health_test.cpp %D%/host_port_test.cpp %D%/hostlist_test.cpp %D%/child_test.cpp %D%/ckpt_kind_test.cpp %D%/ckpt_signal_test.cpp %D%/units_test.cpp %D%/utf8_test.cpp %D%/bounds_test.cpp %D%/conf_test.cpp %D%/daemon_test.cpp %D%/job_folder_test.cpp %D%/job_id_test.cpp %D%/json_test.cpp %D%/json_time_test.cpp %D%/knock_test.cpp %D%/cli_test.cpp %D%/log_test.cpp %D%/manual_test.cpp %D%/file_test.cpp %D%/slurmd_record_test.cpp %D%/split_test.cpp %D%/table_test.cpp %D%/terminal_test.cpp %D%/time_text_test.cpp %D%/ready_test.cpp %D%/ucx_words_test.cpp %D%/user_test.cpp %D%/window_test.cpp
tests_unit_unit_base_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_base_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_base_LDADD = libry_unit.la $(cli_libs)

TESTS += %D%/closed_files_test.py
EXTRA_DIST += %D%/closed_files_test.py
