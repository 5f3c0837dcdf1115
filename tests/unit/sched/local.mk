unit_sources += %D%/budget_test.cpp \
	%D%/dear.hpp \
	%D%/exact_test.cpp \
	%D%/explain_test.cpp \
	%D%/grid.hpp \
	%D%/hints_test.cpp \
	%D%/oracle.hpp \
	%D%/outlook_test.cpp \
	%D%/place_test.cpp \
	%D%/queue_text_test.cpp \
	%D%/rank_order_test.cpp \
	%D%/score_test.cpp \
	%D%/snapshot_test.cpp \
	%D%/spare_floor_test.cpp \
	%D%/why_comment_test.cpp
unit_libs += libry_explain.la libry_sched.la
