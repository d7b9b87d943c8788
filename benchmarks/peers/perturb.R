# sdcMicro on the jobs of perturb.py: Rscript perturb.R IN.csv; prints a line per job: its name and processor seconds.
suppressPackageStartupMessages(library(sdcMicro))
y <- read.csv(commandArgs(trailingOnly = TRUE)[1])
y$race <- factor(y$race)
report <- function(name, what) {
  took <- system.time(what)
  cat(sprintf("%s %.3f\n", name, took[["user.self"]] + took[["sys.self"]]))
}
set.seed(1)
cat(sprintf("version %s\n", packageVersion("sdcMicro")))
report("noise", y$hh_income + rnorm(nrow(y), 0, 5000))
report("topcode", pmin(y$age, 85))
report("recode", cut(y$age, seq(0, 130, 5), right = FALSE))
report("pram", pram(y, variables = "race", pd = 0.8))
report("rank_swap", rankSwap(y, variables = "hh_income", P = 5))
small <- y[1:10000, c("hh_income", "property_value", "age")]
report("mdav_10000", microaggregation(small, aggr = 5, method = "mdav"))
