"""The playground: a page on this machine that shows what jitlint sees in a piece of code (layer: ``frontends``)."""
