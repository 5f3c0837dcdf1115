# src/restart/rm
