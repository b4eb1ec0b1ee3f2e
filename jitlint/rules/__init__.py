"""The rules, one file each, in a folder for each family of codes (layer: ``rules``).

Every module ``jitNxx.jitNNN_<name>`` holds one module-level ``RULE``. The driver discovers them; no rule imports another.
"""
