# The web page: its files and its map.
tests_unit_unit_daemon_SOURCES += \
	%D%/fabric_map_test.cpp \
	%D%/page_files_test.cpp
