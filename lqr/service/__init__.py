"""What a chat needs that many people use at once: limits, metrics, logs, traces, freshness, an end in good order."""
