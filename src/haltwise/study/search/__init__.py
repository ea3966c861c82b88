"""The search study: agents on two-hop questions, sources that fail, rules that stop them."""
