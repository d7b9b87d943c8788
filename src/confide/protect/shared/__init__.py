"""What several methods share: codes of categories, values that stand apart, predictors."""
