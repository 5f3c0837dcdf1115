# restart/rm: the resource manager as restartd sees it.
EXTRA_DIST += %D%/rm.hpp
