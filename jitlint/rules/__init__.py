"""The rules, one file each (layer: ``rules``).

Every module ``jitNNN_<name>`` holds one module-level ``RULE``. The driver discovers them; no rule imports another.
"""
