# CART on the job of synthesis.py: Rscript synthesis.R IN.csv OUT.csv SEED; prints seconds of the processor, the package
# and its version. By synthpop where it is installed; else by rpart, which synthpop grows its trees with, at synthpop's
# settings: leaves of 5, cp 1e-8, and values drawn independently from the leaf.
args <- commandArgs(trailingOnly = TRUE)
y <- read.csv(args[1])
for (v in c("sex", "race", "marital", "educ")) y[[v]] <- factor(y[[v]])
drawn <- function(y, name, given) {
  known <- y[given$observed]
  tree <- rpart::rpart(value ~ ., data = data.frame(value = y[[name]], known),
                       method = if (is.factor(y[[name]])) "class" else "anova",
                       control = rpart::rpart.control(minbucket = 5, cp = 1e-8))
  leaf <- tree$where
  tree$frame$yval <- as.numeric(row.names(tree$frame))  # so that a prediction says the leaf
  place <- match(predict(tree, given$made, type = "vector"), tree$frame$yval)
  donors <- split(seq_along(leaf), leaf)
  out <- integer(length(place))
  for (p in unique(place)) {
    mine <- donors[[as.character(p)]]
    out[place == p] <- mine[sample.int(length(mine), sum(place == p), replace = TRUE)]
  }
  y[[name]][out]
}
by_rpart <- function(y, kept) {
  made <- y
  for (i in seq_along(y)[-(1:kept)]) {
    before <- names(y)[seq_len(i - 1)]
    made[[i]] <- drawn(y, names(y)[i], list(observed = before, made = made[before]))
  }
  made
}
if (requireNamespace("synthpop", quietly = TRUE)) {
  suppressPackageStartupMessages(library(synthpop))
  package <- "synthpop"
  took <- system.time(
    made <- syn(y, method = c("", "", "", "", "cart", "cart", "cart"), visit.sequence = names(y),
                drop.not.used = FALSE, seed = as.integer(args[3]), print.flag = FALSE)$syn
  )
} else {
  package <- "rpart"
  set.seed(as.integer(args[3]))
  took <- system.time(made <- by_rpart(y, 4))
}
write.csv(made, args[2], row.names = FALSE)
cat(sprintf("%.3f %s %s\n", took[["user.self"]] + took[["sys.self"]], package, packageVersion(package)))
