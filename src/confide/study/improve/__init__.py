"""What to do next for one plan: changes of it, each carried out and attacked."""
