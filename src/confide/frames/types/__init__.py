"""Values of other libraries, exact or refused."""
