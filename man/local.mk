# man
dist_man_MANS += %D%/nodewatchd.8
