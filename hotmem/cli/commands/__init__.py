"""The commands of `hotmem`, grouped as in its help.

They import the packages that do the work when they run, so that the command starts fast.
"""
