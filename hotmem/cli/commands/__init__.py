"""The commands of `hotmem`: a module for each panel of its help, in the order of the help.

They import the packages that do the work when they run, so that the command starts fast.
"""
