"""Durable jobs: what a labelled issue sets going, and how it survives crashes."""
