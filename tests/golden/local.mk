# Golden files: what the programs print, held as transcripts of commands (tests/golden/transcript --update).
TESTS += %D%/railplan/run %D%/railckpt/run %D%/restartd/run
EXTRA_DIST += %D%/restartd/run %D%/restartd/make_journal %D%/restartd/replay.transcript
EXTRA_DIST += %D%/railckpt/run %D%/railckpt/rc %D%/railckpt/contract.transcript %D%/railckpt/doctor.transcript %D%/railckpt/kinds.transcript
EXTRA_DIST += %D%/transcript %D%/railplan/run %D%/railplan/place.transcript \
	%D%/railplan/sbatch.transcript %D%/railplan/train.sh %D%/railplan/bad.sh %D%/railplan/nodes.txt \
	%D%/railplan/plans.transcript %D%/railplan/batch.jobs %D%/railplan/twice.jobs %D%/railplan/bad.jobs %D%/railplan/none.jobs \
	%D%/railplan/half.state %D%/railplan/health.state %D%/railplan/broken.state
EXTRA_DIST += %D%/railplan/domains.transcript %D%/railplan/simulate.transcript %D%/railplan/gangs.jobs
EXTRA_DIST += %D%/railplan/explain.transcript %D%/railplan/explain.state %D%/railplan/explain.jobs %D%/railplan/explain.reasons
TESTS += %D%/railtopo/run
EXTRA_DIST += %D%/railtopo/run %D%/railtopo/check.transcript %D%/railtopo/diff.transcript %D%/railtopo/discover.transcript %D%/railtopo/export.transcript %D%/railtopo/facts.json %D%/railtopo/picture-facts %D%/railtopo/show.transcript \
	%D%/railtopo/status.json %D%/railtopo/synth.transcript \
	%D%/railtopo/faulty.ibnetdiscover %D%/railtopo/faulty.ports %D%/railtopo/sound.ibnetdiscover %D%/railtopo/sound.ports
EXTRA_DIST += %D%/railtopo/gather.transcript %D%/railtopo/host.transcript %D%/railtopo/rules.transcript \
	%D%/railtopo/reversed.xml %D%/railtopo/site.rules \
	%D%/railtopo/sources.transcript %D%/railtopo/opensm-subnet.lst %D%/railtopo/iblinkinfo.txt %D%/railtopo/cables.db_csv
TESTS += %D%/railtopo/schema
EXTRA_DIST += %D%/railtopo/plan.transcript %D%/railtopo/rewrite.transcript %D%/railtopo/shapes.transcript %D%/railtopo/schema
