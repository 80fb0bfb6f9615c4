neither
