//! H: the faults of a public failover bench.
