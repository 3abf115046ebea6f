"""Tests and observations of candidates: rendering, running, voting."""
