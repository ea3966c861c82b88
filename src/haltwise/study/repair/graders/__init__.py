"""One grader per kind of answer; each takes a plan as text and says whether it is valid."""
