"""QuantileRegression: values from conditional quantiles."""
