"""Every regime that a memory meets, measured in one run against the baselines.

history (1, 3, 8 sessions, whole) × source (told, stored, imported, mixed) × wording (echo,
paraphrase, implication, recognised) × answerable or not × budget
"""
