# man
dist_man_MANS += %D%/fabricwatchd.8 %D%/nodewatchd.8
dist_man_MANS += %D%/nodewatchd.8
dist_man_MANS += %D%/spank_rail.8
