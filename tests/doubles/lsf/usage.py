"""The usage texts of the engine, as recorded; they are printed to standard error."""

USAGE = {
    "bsub": (
        "Usage: bsub [-h] [-V] [-x] [-H] [-r] [-N] [-B] [-I | -K | -Ip | -Is]\n"
        "\t\t[-L login_shell] [-c cpu_limit[/host_spec]] [-F file_limit]\n"
        "\t\t[-W run_limit[/host_spec]] [-k chkpnt_dir [chkpnt_period] [method=chkpnt_dir]]\n"
        "\t\t[-P project_name] \n"
        "\t\t[-q queue_name ...]  [-R res_req]\n"
        '\t\t[-m "host_name[+[pref_level]] | host_group[+[pref_level]]...]"\n'
        "\t\t[-n min_processors[,max_processors]] [-J job_name] [-Jd job_desc]\n"
        "\t\t[-b begin_time] [-t term_time] [-u mail_user]\n"
        "\t\t[-i in_file | -is in_file] [-o out_file] [-e err_file]\n"
        "\t\t[-M mem_limit]  [-D data_limit]  [-S stack_limit]\n"
        '\t\t[[-f "lfile op [rfile]"] ...] [-w depend_cond]\n'
        '\t\t[-E "pre_exec_command [argument ...]"] [-Zs]\n'
        '\t\t[-Ep "post_exec_command [argument ...]"\n'
        "\t\t[-sp job_priority]\n"
        "\t\t[-pack job_submission_file]\n"
        "\t\t[-a additional_esub_information]\n"
        "\t\tcommand [argument ...]\n"
    ),
    "bmod": (
        "Usage: bmod [-h] [-V] [-x | -xn]\n"
        "\t\t[-r | -rn] [-N | -Nn] [-B | -Bn]\n"
        "\t\t[-c cpu_limit[/host_spec] | -cn] [-F file_limit | -Fn]\n"
        "\t\t[-M mem_limit | -Mn] [-D data_limit | -Dn] [-S stack_limit | -Sn]\n"
        "\t\t[-C core_limit | -Cn] [-W run_limit[/host_spec] | -Wn ]\n"
        "\t\t[-k chkpnt_dir [chkpnt_period] | -kn] [-P project_name | -Pn]\n"
        "\t\t[-L login_shell | -Ln] \n"
        "\t\t[-w depend_cond | -wn] [-R res_req| -Rn] [-J job_name | -Jn] [-Jd job_desc | -Jdn]\n"
        "\t\t[-q queue_name ... | -qn] \n"
        '\t\t[-m host_name[+[pref_level]] | host_group[+[pref_level]]...| -mn]"\n'
        "\t\t[-n min_processors[,max_processors] | -nn]\n"
        "\t\t[-b begin_time | -bn] [-t term_time | -tn]\n"
        "\t\t[-i in_file | -is in_file | -in | -isn]\n"
        "\t\t[-o out_file | -on] [-e err_file | -en]\n"
        '\t\t[-u mail_user | -un] [[-f "lfile op [rfile]"] ... | -fn] \n'
        '\t\t[-E "pre_exec_command [argument ...]" | -En]\n'
        "\t\t[-sp job_priority | -spn]\n"
        '\t\t[-Z "new_command" | -Zs "new_command" | -Zsn] \n'
        "\t\t[-a additional_esub_information]\n"
        '\t\tjobId | "jobId[index_list]"\n'
    ),
    "bjobs": (
        "Usage: bjobs [-h] [-V] [-w |-l |-UF] [-a] [-d] [-p] [-s] [-r] [-o] [-json] [-A]\n"
        "             [-m host_name] [-q queue_name] [-u user_name | -u all]\n"
        "             [-P project_name] [-N host_spec]\n"
        '             [-J name_spec] [jobId | "jobId[idxList]" ...]\n'
    ),
    "brequeue": (
        "Usage: brequeue [-deraH] [-h] [-V] [-u user_name | -u all]\n"
        '                [-J name_spec] [jobId | "jobId[idxList]" ...]\n'
        " "
    ),
    "bhosts": (
        "Usage:\n"
        "bhosts [-h] [-V] [-R res_req] [-w | -l] [host_name ... | cluster_name]\n"
        "or\n"
        "bhosts [-h] [-V] -s [ resource_name ] \n"
    ),
    "lsload": (
        "Usage:\n"
        "lsload [-h] [-V] [-N|-E] [-l | -w] [-R res_req] [-I index_list] [-n num_hosts] [host_name ... | cluster_name ...]\n"
        "or\n"
        "lsload [-h] [-V] -s [ shared_resource_name ... ]\n"
    ),
    "bqueues": (
        "Usage: bqueues [-h] [-V] [-w | -l | -r] [-m host_name | -m cluster_name]\n"
        " [-u user_name] [queue_name ...]\n"
    ),
    "bparams": (
        "Usage: bparams [-h] [-V] [-l]\n"
    ),
    "badmin help": (
        "\n"
        "Commands are : \n"
        "\n"
        "reconfig    ckconfig    qopen       qclose      qact        qinact      \n"
        "qhist       hopen       hclose      hrestart    hshutdown   hstartup    \n"
        "hhist       mbdhist     hist        mbddebug    mbdtime     mbdrestart  \n"
        "sbddebug    sbdtime     help        ?           quit        \n"
        "\n"
        "Try help command... to get details. \n"
        "\n"
    ),
    "badmin hclose": (
        'Usage:    hclose      [-C "comments"] [ host_name ... | host_group ... | all ]\n'
    ),
}
