# tests/unit/ckpt
