"""Files larger than memory."""
