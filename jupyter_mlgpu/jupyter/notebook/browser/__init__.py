"""What browsers are told, what they ask, and what somebody sets there."""
