"""Results: the numbers, whom they count, and how they are saved."""
