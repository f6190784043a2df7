"""What tests use of private modules, one file for each folder of the package.

A module that moves is edited here, and no test with it.
"""
