# base: what everything else stands on; includes nothing of ours.
noinst_LTLIBRARIES += libry_base.la libry_cli.la
libry_base_la_SOURCES = \
	%D%/agent_paths.hpp %D%/bounds.cpp %D%/bounds.hpp \
	%D%/child.cpp %D%/child.hpp \
	%D%/ckpt_kind.cpp %D%/ckpt_kind.hpp \
	%D%/ckpt_signal.cpp %D%/ckpt_signal.hpp \
	%D%/clock.cpp %D%/clock.hpp \
	%D%/close_inherited.cpp %D%/close_inherited.hpp \
	%D%/conf.cpp %D%/conf.hpp \
	%D%/error.cpp %D%/error.hpp \
	%D%/expected.hpp \
	%D%/fields.hpp \
	%D%/file.cpp %D%/file.hpp \
	%D%/fnv.hpp \
	%D%/fmt.cpp \
	%D%/host_health.cpp %D%/host_health.hpp \
	%D%/host_state.hpp \
	%D%/host_group.cpp %D%/host_group.hpp \
	%D%/host_port.cpp %D%/host_port.hpp \
	%D%/hostlist.cpp %D%/hostlist.hpp \
	%D%/job_folder.cpp %D%/job_folder.hpp \
	%D%/job_id.cpp %D%/job_id.hpp \
	%D%/json.cpp %D%/json.hpp \
	%D%/json_time.cpp %D%/json_time.hpp \
	%D%/keys.cpp %D%/keys.hpp \
	%D%/knock.cpp %D%/knock.hpp \
	%D%/log.cpp %D%/log.hpp \
	%D%/lsf_exit.hpp \
	%D%/may_be_valueless.hpp \
	%D%/median.hpp \
	%D%/private_folder.cpp %D%/private_folder.hpp \
	%D%/ready.cpp %D%/ready.hpp \
	%D%/slurmd_record.cpp %D%/slurmd_record.hpp \
	%D%/split.hpp \
	%D%/standard_files.cpp %D%/standard_files.hpp \
	%D%/table.cpp %D%/table.hpp \
	%D%/terminal.cpp %D%/terminal.hpp \
	%D%/time_text.cpp %D%/time_text.hpp \
	%D%/toml.cpp %D%/toml.hpp \
	%D%/ucx_words.cpp %D%/ucx_words.hpp \
	%D%/unique_fd.hpp \
	%D%/units.cpp %D%/units.hpp \
	%D%/user.cpp %D%/user.hpp \
	%D%/utf8.cpp %D%/utf8.hpp \
	%D%/wait_ready.hpp \
	%D%/window.cpp %D%/window.hpp

# Command lines of programs, and what daemons do alike; plugins link only libry_base.
libry_cli_la_SOURCES = %D%/cli.cpp %D%/cli.hpp %D%/daemon.cpp %D%/daemon.hpp
base_libs = libry_base.la
cli_libs = libry_cli.la $(base_libs)
