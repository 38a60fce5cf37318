"""The magics: words that a student types, what they do, and the sentences to print."""
