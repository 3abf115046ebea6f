"""Turns a Requirement into a Candidate with Evidence. Knows nothing of GitHub."""
