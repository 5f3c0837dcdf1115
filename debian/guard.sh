# Whether this host's Slurm names one of these plugins: then it would not start, or nobody could submit, without it.
# Prints the lines that do. A host without files of its own (configless) has slurmctld's in /run/slurm/conf.
named_by_slurm() { # what of slurm.conf, as a regular expression; what of plugstack
    for conf in "${SLURM_CONF:-/etc/slurm/slurm.conf}" /etc/slurm/*.conf /run/slurm/conf/*.conf; do
        [ ! -r "$conf" ] || grep -HiE "^[[:space:]]*($1)" "$conf" || true
    done | sort -u
    for conf in /etc/slurm/plugstack.conf /etc/slurm/plugstack.conf.d/* /run/slurm/conf/plugstack.conf; do
        [ -z "$2" ] || [ ! -r "$conf" ] || grep -HE "^[[:space:]]*($2)" "$conf" || true
    done
}

# A slurmctld here that was not started again since slurm.conf was changed: what it saves of jobs cannot be read without
# select_rail.so, neither by its next start.
run_by_slurmctld() {
    [ -n "$(pidof slurmctld 2>/dev/null)" ] || return 0
    timeout 20 scontrol show config 2>/dev/null </dev/null | grep -E '^SelectType +=.*select/rail' | sed 's/^/slurmctld that runs: /' || true
}

# A slurmd that was started with one of the plugins names it to each new step, whatever slurm.conf says by now.
loaded_by_slurmd() {
    for pid in $(pidof slurmd 2>/dev/null); do
        grep -oE '/[^ ]*(/(select|topology)_rail|railyard/shadow/[^/]*)[.]so$' "/proc/$pid/maps" 2>/dev/null | sort -u |
            sed "s/^/slurmd, process $pid, has loaded /"
    done || true
}

refuse_while_named() { # package, what is about to happen, slurm.conf, plugstack
    lines=$(named_by_slurm "$3" "$4"; case $3 in (*SelectType*) run_by_slurmctld; loaded_by_slurmd ;; esac)
    [ -n "$lines" ] || return 0
    {
        echo "$1 cannot be $2 while this host's Slurm uses it:"
        echo "$lines" | sed 's/^/    /'
        echo "First take Railyard out of Slurm: railctl disable --apply, where slurmctld runs. By hand, with slurmctld"
        echo "stopped, on all hosts:"
        echo "    SelectType=select/cons_tres in place of select/rail; no TopologyPlugin=topology/rail;"
        echo "    no railyard/shadow in PluginDir; no rail in JobSubmitPlugins;"
        echo "    no \"required spank_rail.so\" in plugstack.conf"
        echo "then restart every slurmd, start slurmctld (never with -c or -i), and try again. Nothing has been changed."
    } >&2
    exit 1
}
