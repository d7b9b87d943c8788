# synthpop's CART on the job of synthesis.py: Rscript synthesis.R IN.csv OUT.csv SEED; prints seconds of the processor.
suppressPackageStartupMessages(library(synthpop))
args <- commandArgs(trailingOnly = TRUE)
y <- read.csv(args[1])
for (v in c("sex", "race", "marital", "educ")) y[[v]] <- factor(y[[v]])
took <- system.time(
  made <- syn(y, method = c("", "", "", "", "cart", "cart", "cart"), visit.sequence = names(y), drop.not.used = FALSE,
              seed = as.integer(args[3]), print.flag = FALSE)
)
write.csv(made$syn, args[2], row.names = FALSE)
cat(sprintf("%.3f %s\n", took[["user.self"]] + took[["sys.self"]], packageVersion("synthpop")))
