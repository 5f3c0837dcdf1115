"""The texts of lsinfo, bparams -l, busers and lshosts -l, which describe the cluster; byte for byte as recorded."""
import show_hosts

# (name, type, order, description); the elim's indices and the hosts' own resources are inserted among them.
LOADS = (
    ("r15s", "Numeric", "Inc", "15-second CPU run queue length"),
    ("r1m", "Numeric", "Inc", "1-minute CPU run queue length (alias: cpu)"),
    ("r15m", "Numeric", "Inc", "15-minute CPU run queue length"),
    ("ut", "Numeric", "Inc", "1-minute CPU utilization (0.0 to 1.0)"),
    ("pg", "Numeric", "Inc", "Paging rate (pages/second)"),
    ("io", "Numeric", "Inc", "Disk IO rate (Kbytes/second)"),
    ("ls", "Numeric", "Inc", "Number of login sessions (alias: login)"),
    ("it", "Numeric", "Dec", "Idle time (minutes) (alias: idle)"),
    ("tmp", "Numeric", "Dec", "Disk space in /tmp (Mbytes)"),
    ("swp", "Numeric", "Dec", "Available swap space (Mbytes) (alias: swap)"),
    ("mem", "Numeric", "Dec", "Available memory (Mbytes)"),
)
STATICS = (
    ("ncpus", "Numeric", "Dec", "Number of CPUs"),
    ("ndisks", "Numeric", "Dec", "Number of local disks"),
    ("maxmem", "Numeric", "Dec", "Maximum memory (Mbytes)"),
    ("maxswp", "Numeric", "Dec", "Maximum swap space (Mbytes)"),
    ("maxtmp", "Numeric", "Dec", "Maximum /tmp space (Mbytes)"),
    ("cpuf", "Numeric", "Dec", "CPU factor"),
    ("rexpri", "Numeric", "N/A", "Remote execution priority"),
    ("slots", "Numeric", "Dec", "Unused slots of host"),
    ("server", "Boolean", "N/A", "LSF server host"),
    ("fs", "Boolean", "N/A", "File server"),
    ("cs", "Boolean", "N/A", "Compute server"),
    ("mg", "Boolean", "N/A", "Management host"),
    ("type", "String", "N/A", "Host type"),
    ("model", "String", "N/A", "Host model"),
    ("status", "String", "N/A", "Host status"),
    ("hname", "String", "N/A", "Host name"),
)
PARAMETERS = (
    "\n"
    "System default queues for automatic queue selection:\n"
    "    DEFAULT_QUEUE = {default_queue}\n"
    "\n"
    "The interval for dispatching jobs by master batch daemon:\n"
    "    MBD_SLEEP_TIME = {MBD_SLEEP_TIME:g} (seconds)\n"
    "\n"
    "The interval for checking jobs by slave batch daemon:\n"
    "    SBD_SLEEP_TIME = {SBD_SLEEP_TIME:g} (seconds)\n"
    "\n"
    "The interval for a host to accept two batch jobs:\n"
    "    JOB_ACCEPT_INTERVAL = 0 (* MBD_SLEEP_TIME)\n"
    "\n"
    "The idle time of a host for resuming pg suspended jobs:\n"
    "    PG_SUSP_IT = 180 (seconds)\n"
    "\n"
    "The amount of time during which finished jobs are kept in core:\n"
    "    CLEAN_PERIOD = 86400 (seconds)\n"
    "\n"
    "The maximum number of finished jobs that can be stored in current events file:\n"
    "    MAX_JOB_NUM = 1000\n"
    "\n"
    "The maximum number of retries for reaching a slave batch daemon:\n"
    "    MAX_SBD_FAIL = {MAX_SBD_FAIL}\n"
    "\n"
    "The default project assigned to jobs.\n"
    "    DEFAULT_PROJECT = default\n"
    "\n"
    "The interval to terminate a job.\n"
    "    JOB_TERMINATE_INTERVAL = {JOB_TERMINATE_INTERVAL:g} \n"
    "\n"
    "The maximum number of jobs in a job array.\n"
    "    MAX_JOB_ARRAY_SIZE = 1000\n"
    "\n"
    "User level account mapping for remote jobs is permitted.\n"
    "\n"
    "Static shared resource update interval for the cluster:\n"
    "    SHARED_RESOURCE_UPDATE_FACTOR  = 2147483647 \n"
    "\n"
    "The Maximum JobId defined in the system:\n"
    "    MAX_JOBID = 999999\n"
    "\n"
    "Job submission retry interval:\n"
    "    SUB_TRY_INTERVAL = 60 seconds\n"
    "\n"
    "the limits of 'default' user set in lsb.users would ignore user group:\n"
    "    DEFAULT_LIMIT_IGNORE_USER_GROUP = FALSE\n"
    "\n"
    "Mbatchd reserves resources based on job tasks:\n"
    "    RESOURCE_RESERVE_PER_TASK = N\n"
    "\n"
    "Run time weighting factor for fairshare scheduling policy:\n"
    "    RUN_TIME_FACTOR = 0.700000\n"
    "\n"
    "CPU time weighting factor for fairshare scheduling policy:\n"
    "    CPU_TIME_FACTOR = 0.700000\n"
    "\n"
    "Job slots weighting factor for fairshare scheduling policy:\n"
    "    RUN_JOB_FACTOR = 3.000000\n"
    "\n"
    "The number of hours of resource consumption history::\n"
    "    HIST_HOURS = 3.000000\n"
    "\n"
)


def lsinfo(engine, only_resources):
    indices = [(name, "Numeric", "Dec", one.get("description", "")) for name, one in engine.cluster.indices.items()]
    own = {}
    for host in engine.cluster.hosts.values():
        for name, value in host.resources.items():
            kind, order = ("String", "N/A") if isinstance(value, str) else ("Numeric", "Dec")
            own[name] = (name, kind, order, engine.cluster.keys["descriptions"].get(name, ""))
    text = "RESOURCE_NAME   TYPE   ORDER  DESCRIPTION\n"
    for name, kind, order, meaning in (*LOADS, *indices, *STATICS, *own.values()):
        text += f"{name:<14}{kind:>7}{order:>6}   {meaning}\n"
    if only_resources:
        return text
    return text + ("\nTYPE_NAME\nUNKNOWN_AUTO_DETECT\nDEFAULT\nlinux\n"
                   "\nMODEL_NAME      CPU_FACTOR      ARCHITECTURE\nIntelI5             100.00      x86_64\n")


def bparams(engine):
    return "".join(PARAMETERS).format(default_queue=engine.cluster.keys["default_queue"], **engine.timing)


def busers(engine, users):
    text = "USER/GROUP          JL/P    MAX  NJOBS   PEND    RUN  SSUSP  USUSP    RSV \n"
    for user in users:
        count = dict.fromkeys(("PEND", "RUN", "SSUSP", "USUSP"), 0)
        for job in [*engine.pending.values(), *engine.started.values()]:
            if job.user == user and job.state != "EXIT":
                state = {"PSUSP": "PEND", "UNKWN": "RUN", "ZOMBI": "RUN"}.get(job.state, job.state)
                count[state] += job.slots if state == "PEND" else sum(slots for _, slots in job.exec_hosts)
        text += f"{user:<19} {'-':>4} {'-':>6} {sum(count.values()):>6}" + "".join(f" {one:>6}" for one in (*count.values(), 0)) + "\n"
    return text


def lshosts_long(engine, name):
    host = engine.cluster.hosts[name]
    sort = "mg" if name == engine.cluster.keys["master"] else "cs"
    text = (f"\nHOST_NAME:  {name}\ntype             model  cpuf ncpus ndisks maxmem maxswp maxtmp rexpri server\n"
            "linux          IntelI5 100.0     2      1 24105M     0M 258019M      0    Yes\n")
    if host.resources:
        words = {key: f'"{value}"' if isinstance(value, str) else str(value) for key, value in host.resources.items()}
        text += "".join(f"{key:>{7 if key != next(iter(words)) else 6}} " for key in words).rstrip() + "\n"
        text += "".join(f"{word:>{7 if key != next(iter(words)) else 6}} " for key, word in words.items()).rstrip() + "\n"
    columns = [*(name for name, _ in show_hosts.LOAD_NAMES), *engine.cluster.indices]
    sizes = {**dict(show_hosts.LOAD_NAMES), "ls": 4, "it": 4}
    width = lambda key: sizes.get(key, len(key)) + 1
    return text + (f"\nRESOURCES: ({sort})\nRUN_WINDOWS:  (always open)\n\nLOAD_THRESHOLDS:\n"
                   + "".join(f"{key:>{width(key)}}" for key in columns) + "\n"
                   + "".join(f"{'-':>{width(key)}}" for key in columns) + "\n")
