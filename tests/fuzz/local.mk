# Fuzz targets, one a parser. As check programs they replay their corpora; with --enable-fuzzers (clang) they
# are libFuzzer programs: tests/fuzz/fuzz_ibnetdiscover tests/fuzz/corpus/ibnetdiscover -max_total_time=60
fuzz_programs = %D%/fuzz_ibnetdiscover %D%/fuzz_fabric_json %D%/fuzz_synth \
	%D%/fuzz_state %D%/fuzz_comment %D%/fuzz_place \
	%D%/fuzz_facts %D%/fuzz_rules %D%/fuzz_source %D%/fuzz_overlay \
	%D%/fuzz_slurm_conf %D%/fuzz_health \
	%D%/fuzz_ucx_statistics %D%/fuzz_nccl_ras %D%/fuzz_lsf_text \
	%D%/fuzz_job_line %D%/fuzz_toml %D%/fuzz_http
check_PROGRAMS += $(fuzz_programs)
TESTS += %D%/run
EXTRA_DIST += %D%/run %D%/corpus
CLEANFILES += %D%/fuzz_*.log

if FUZZERS
fuzz_main =
FUZZ_FLAGS = -fsanitize=fuzzer,address,undefined
else
fuzz_main = %D%/replay.cpp
FUZZ_FLAGS =
endif

%C%_fuzz_ibnetdiscover_SOURCES = %D%/ibnetdiscover_fuzz.cpp $(fuzz_main)
%C%_fuzz_ibnetdiscover_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_ibnetdiscover_LDADD = $(topo_libs)
%C%_fuzz_fabric_json_SOURCES = %D%/fabric_json_fuzz.cpp $(fuzz_main)
%C%_fuzz_fabric_json_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_fabric_json_LDADD = $(topo_libs)
%C%_fuzz_synth_SOURCES = %D%/synth_fuzz.cpp $(fuzz_main)
%C%_fuzz_synth_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_synth_LDADD = $(topo_libs)
%C%_fuzz_state_SOURCES = %D%/state_fuzz.cpp $(fuzz_main)
%C%_fuzz_state_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_state_LDADD = $(slurm_libs)
%C%_fuzz_comment_SOURCES = %D%/comment_fuzz.cpp $(fuzz_main)
%C%_fuzz_comment_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_comment_LDADD = $(slurm_libs)
%C%_fuzz_place_SOURCES = %D%/place_fuzz.cpp $(fuzz_main)
%C%_fuzz_place_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_place_LDADD = $(sched_libs)
%C%_fuzz_facts_SOURCES = %D%/facts_fuzz.cpp $(fuzz_main)
%C%_fuzz_facts_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_facts_LDADD = $(topo_libs)
%C%_fuzz_overlay_SOURCES = %D%/overlay_fuzz.cpp $(fuzz_main)
%C%_fuzz_overlay_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_overlay_LDADD = $(topo_libs)
%C%_fuzz_rules_SOURCES = %D%/rules_fuzz.cpp $(fuzz_main)
%C%_fuzz_rules_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_rules_LDADD = $(topo_libs)
%C%_fuzz_source_SOURCES = %D%/source_fuzz.cpp $(fuzz_main)
%C%_fuzz_source_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_source_LDADD = $(source_libs)
%C%_fuzz_slurm_conf_SOURCES = %D%/slurm_conf_fuzz.cpp $(fuzz_main)
%C%_fuzz_slurm_conf_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_slurm_conf_LDADD = $(enable_libs)
%C%_fuzz_health_SOURCES = %D%/health_fuzz.cpp $(fuzz_main)
%C%_fuzz_health_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_health_LDADD = $(watch_libs)
%C%_fuzz_ucx_statistics_SOURCES = %D%/ucx_statistics_fuzz.cpp $(fuzz_main)
%C%_fuzz_ucx_statistics_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_ucx_statistics_LDADD = $(probe_libs)
%C%_fuzz_nccl_ras_SOURCES = %D%/nccl_ras_fuzz.cpp $(fuzz_main)
%C%_fuzz_nccl_ras_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_nccl_ras_LDADD = $(probe_libs)
%C%_fuzz_lsf_text_SOURCES = %D%/lsf_text_fuzz.cpp src/restart/rm/lsf_shares.cpp src/restart/rm/lsf_text.cpp $(fuzz_main)
%C%_fuzz_lsf_text_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_lsf_text_LDADD = $(dispatch_libs)
%C%_fuzz_job_line_SOURCES = %D%/job_line_fuzz.cpp $(fuzz_main)
%C%_fuzz_job_line_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_job_line_LDADD = $(watch_libs)
%C%_fuzz_toml_SOURCES = %D%/toml_fuzz.cpp $(fuzz_main)
%C%_fuzz_toml_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_toml_LDADD = $(base_libs)
%C%_fuzz_http_SOURCES = %D%/http_fuzz.cpp $(fuzz_main)
%C%_fuzz_http_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_http_LDADD = $(http_libs)
