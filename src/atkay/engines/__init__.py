"""What else produces a Judged: files, Spark, torch, a stream."""
