"""Files made elsewhere: attacks that need no plan, and the customary measures of them."""
