"""What a new statement does to stored memories: it repeats, corrects, ends or doubts them."""
