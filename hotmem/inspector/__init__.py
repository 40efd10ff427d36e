"""`hotmem inspect`: a page on this machine that shows one user what is remembered of them and why, and lets them change and forget it.

`site` puts the pages together, `guard` keeps others out, `pages` has a module for each part,
`changes` is all that writes. Pages are made here, on the server, and need no script. It needs ``pip
install "pipecat-hotmem[inspect]"``.
"""
