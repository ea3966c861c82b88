"""Statistics: arrays in, `Estimate` out. Knows nothing of agents, files or terminals.

Import from the file that has it; the package itself loads nothing.

| file | what it computes |
|---|---|
| `estimate` | `Estimate`: value, interval, level, n, method, note; `undefined` |
| `risk_difference` | Mantel-Haenszel pooled risk difference; Sato and Greenland-Robins variances |
| `pool` | distinct cluster statistics with counts, which merge in any order |
| `bootstrap` | `resample`, `poisson_resample` (shards) -> `Resamples.estimate`, `.p_value` |
| `ratios` | statistics of summed columns: `ratio`, `mean_of_ratios` (mean6), `difference`, ... |
| `proportions` | `wilson`, `beta_interval`, `clustered_mean`, `clustered_proportion` |
| `paired` | paired proportions: `newcombe`, `tango`, `mcnemar` |
| `hashing` | hashes of rows: randomness that depends on (seed, row) alone |
| `hazard` | discrete-time hazard: logit on stratum dummies and run length, clustered errors |
| `survival` | discrete Kaplan-Meier with censoring |
| `multiple` | `holm` |
| `noninferiority` | lower bound against a margin |
| `likelihood` | likelihood-ratio test |

Sampled clusters come as a matrix, one row a cluster, one column a sum over the cluster; where rows
repeat they may be pooled, with `counts` saying how often each one occurs. Arrays of the wrong shape
raise `ValueError`; what the data leave undefined is an `Estimate` without a value and with the
reason in its note.
"""
