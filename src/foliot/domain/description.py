def describe(plan): return ""
