"""What somebody who knows a few people recovers of the others."""
