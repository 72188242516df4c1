class SpecWarning: pass
def warnings_about(*a): return []
