"""A person's git repository, by plumbing: no work tree, index, hook or filter is involved."""
