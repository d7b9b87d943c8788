# Suppression and rounding of small counts; called by tables.py with a CSV of records and the names of its variables.
args <- commandArgs(trailingOnly = TRUE)
data <- read.csv(args[1], colClasses = "character")
by <- args[-1]
data$freq <- 1
data <- aggregate(freq ~ ., data = data[c(by, "freq")], FUN = sum)
spent <- function(work) sum(system.time(out <<- work())[c("user.self", "sys.self")])

seconds <- spent(function() GaussSuppression::SuppressSmallCounts(
  data = data, maxN = 3, dimVar = by, freqVar = "freq", protectZeros = FALSE, extend0 = TRUE, printInc = FALSE))
second <- out$suppressed & !out$primary
cat("suppression", sum(second), sum(out$freq[second]), seconds, "\n")

seconds <- spent(function() SmallCountRounding::PLSrounding(
  data, freqVar = "freq", roundBase = 3, dimVar = by, extend0 = TRUE, printInc = FALSE))
error <- abs(out$publish$difference)
cat("rounding", max(error), mean(error), seconds, "\n")
