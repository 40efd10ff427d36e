"""General building blocks: threads, priorities, timers, matrix products, files, logging."""
