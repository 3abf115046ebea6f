"""Talks to people and to GitHub: command line, jobs, pull requests."""
