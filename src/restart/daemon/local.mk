# src/restart/daemon
