# The jobs of perturb.py: Rscript perturb.R IN.csv; prints a line per job: its name and processor seconds, the least of 5.
# Noise, topcode and recode are R itself, and so are a random order and a shuffle of 14 columns, which no function of
# sdcMicro does; the other jobs need that package.
y <- read.csv(commandArgs(trailingOnly = TRUE)[1])
y$race <- factor(y$race)
report <- function(name, what) {
  took <- min(replicate(5, sum(system.time(what())[c("user.self", "sys.self")])))
  cat(sprintf("%s %.3f\n", name, took))
}
set.seed(1)
cat(sprintf("R %s\n", getRversion()))
report("noise", function() y$hh_income + rnorm(nrow(y), 0, 5000))
report("topcode", function() pmin(y$age, 85))
report("recode", function() cut(y$age, seq(0, 130, 5), right = FALSE))
columns <- as.list(y)[rep(seq_along(y), length.out = 14)]
order <- sample(nrow(y))
report("random_order", function() sample(nrow(y)))
report("shuffle", function() lapply(columns, function(v) v[order]))
if (requireNamespace("sdcMicro", quietly = TRUE)) {
  suppressPackageStartupMessages(library(sdcMicro))
  cat(sprintf("sdcMicro %s\n", packageVersion("sdcMicro")))
  report("pram", function() pram(y, variables = "race", pd = 0.8))
  report("rank_swap", function() rankSwap(y, variables = "hh_income", P = 5))
  small <- y[1:10000, c("hh_income", "property_value", "age")]
  report("mdav_10000", function() microaggregation(small, aggr = 5, method = "mdav"))
}
