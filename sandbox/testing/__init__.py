"""pytest in a box, with a report that the code under test cannot forge."""
