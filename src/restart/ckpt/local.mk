# src/restart/ckpt
