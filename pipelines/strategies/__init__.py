"""Algorithms from Requirement to Candidate."""
