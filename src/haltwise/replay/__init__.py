"""What a stopping rule would have done on recorded loops, without running anything again.

A stopping rule only truncates. A record of full length with answer-now branches (search) or with
the votes and the truth of every round (repair) therefore evaluates every rule exactly.
"""
