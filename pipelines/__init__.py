"""Voice bots with HotMem: recorded speech (`replay`), keyboard (`chat`) and microphone (`local_mic`), all built by `bot`."""
