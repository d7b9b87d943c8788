"""RankSwap: release the value of a record near in rank."""
