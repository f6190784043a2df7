"""Recommenders whose faults are known: sound ones, and
ones with a single planted fault each.
"""

from benchmarks.zoo.members import DOSES, FAULTY, MEMBERS, SOUND, Member

__all__ = ["DOSES", "FAULTY", "MEMBERS", "SOUND", "Member"]
