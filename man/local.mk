# man
dist_man_MANS += %D%/railtopo.1 %D%/fabric.json.5 %D%/fabric-rules.5
dist_man_MANS += %D%/restartd.8 %D%/railctl.1 %D%/railyard.conf.5 %D%/health.conf.5
dist_man_MANS += %D%/fabricwatchd.8 %D%/nodewatchd.8 %D%/railcheck.8
dist_man_MANS += %D%/elim.rail.8
dist_man_MANS += %D%/esub.rail.8
dist_man_MANS += %D%/spank_rail.8 %D%/job_submit_rail.8 %D%/select_rail.8 %D%/topology_rail.8
dist_man_MANS += %D%/railrun.1 %D%/rail-lsf-rsh.1 %D%/rail-lsf-run.1 %D%/railckpt.1 %D%/librailckpt.3 %D%/railckpt.py.3
dist_man_MANS += %D%/railplan.1
dist_man_MANS += %D%/railyard.7 %D%/railyard-lsf.7 %D%/railyard-metrics.7 %D%/restartd-decisions.7 %D%/restartd-journal.7 %D%/wire.7 %D%/librailucx.7
