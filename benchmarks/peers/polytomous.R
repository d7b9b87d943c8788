# Polytomous regression on the job of synthesis.py --polytomous: Rscript polytomous.R IN.csv; prints seconds of the
# processor and the version. By nnet, which synthpop's polyreg uses, at its 1,000 steps at most, with ages in [0, 1].
y <- read.csv(commandArgs(trailingOnly = TRUE)[1])
for (v in c("sex", "race", "marital", "educ")) y[[v]] <- factor(y[[v]])
y$age <- (y$age - min(y$age)) / (max(y$age) - min(y$age))
set.seed(1)
took <- system.time({
  model <- nnet::multinom(educ ~ sex + race + marital + age, y, trace = FALSE, maxit = 1000, MaxNWts = 10000)
  upto <- t(apply(predict(model, y, type = "probs"), 1, cumsum))
  drawn <- 1L + rowSums(runif(nrow(y)) > upto)
})
cat(sprintf("%.3f nnet %s\n", took[["user.self"]] + took[["sys.self"]], packageVersion("nnet")))
