# man
dist_man_MANS += %D%/fabricwatchd.8 %D%/nodewatchd.8
