"""A cluster's accounting: slurmdbd over a MariaDB with its own data directory; this machine's own is not touched."""

import os
import shutil
import subprocess
from pathlib import Path

from .plain import free_port
from .process import wait_for
from .testing import skip

CONF = """\
AuthType=auth/munge
AuthInfo=socket={root}/munge/munge.sock
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={dbd_port}
SlurmUser={user}
LogFile={root}/log/ctl.slurmdbd.log
PidFile={root}/run/slurmdbd.pid
DebugLevel=info
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={port}
StorageUser=root
StorageLoc=slurm_acct_db
"""
# No user table: any user of the loopback on the controller's host has all rights.
MARIADB = ["--no-defaults", "--user=root", "--skip-grant-tables", "--innodb-log-file-size=8M"]
TABLES = Path("/usr/share/mysql/mysql_system_tables.sql")


class Accounting:
    """The accounting of one cluster, on its controller's host."""

    def __init__(self, cluster):
        self.cluster, self.folder = cluster, cluster.root / "mariadb"
        self.port, self.dbd_port = (3306, 6819) if cluster.yard.namespaces else (free_port(), free_port())

    def settings(self) -> dict[str, str]:
        """The settings for slurm.conf."""
        return {"AccountingStorageType": "accounting_storage/slurmdbd", "AccountingStorageHost": "127.0.0.1",
                "AccountingStoragePort": str(self.dbd_port),
                "AccountingStoragePass": f"{self.cluster.root}/munge/munge.sock"}

    def start(self, user: str = "root") -> None:
        """Returns when slurmdbd answers; munged must run and slurm.conf must exist."""
        for program in ("mariadbd", "slurmdbd"):
            if not shutil.which(program):
                skip(f"{program} is not installed (build-aux/debian-packages install)")
        self.folder.mkdir()
        tables = "create database mysql;\nuse mysql;\n" + TABLES.read_text()
        subprocess.run(["mariadbd", *MARIADB, "--bootstrap", f"--datadir={self.folder}"], input=tables, text=True, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        conf = self.cluster.slurm.conf().parent / "slurmdbd.conf"
        conf.write_text(CONF.format(root=self.cluster.root, user=user, port=self.port, dbd_port=self.dbd_port,
                                    host="ctl" if self.cluster.yard.namespaces else os.uname().nodename))
        conf.chmod(0o600)
        shutil.chown(conf, user)
        database = self.cluster.spawn("ctl", "mariadbd", [
            "mariadbd", *MARIADB, f"--datadir={self.folder}", f"--socket={self.folder}/socket", "--bind-address=127.0.0.1",
            f"--port={self.port}", f"--pid-file={self.folder}/pid", "--skip-networking=0",
            "--innodb-flush-log-at-trx-commit=0"])
        wait_for((self.folder / "socket").exists, 30, "mariadbd to listen", [database.log], needs=database.pid)
        self.start_slurmdbd()

    def start_slurmdbd(self) -> None:
        daemon = self.cluster.spawn("ctl", "slurmdbd", ["slurmdbd", "-D"], own_log=True)
        wait_for(lambda: self.cluster.run("sacctmgr", "-n", "list", "cluster", timeout=10).returncode == 0, 60,
                 "slurmdbd to answer", [daemon.log.with_suffix(".err"), Path(daemon.log)], needs=daemon.pid)
