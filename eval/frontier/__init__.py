"""Evidence against tokens: HotMem and the baselines at many budgets."""
