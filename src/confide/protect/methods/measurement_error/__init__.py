"""MeasurementError: values that carry bias and noise of unknown size."""
