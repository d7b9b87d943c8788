"""MatrixMask: M = A X B + C."""
