"""What is measured: next times, throughput, lateness, scale and recovery, beside peers and yardsticks in one run."""
