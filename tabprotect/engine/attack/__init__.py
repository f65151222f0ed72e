"""What many published numbers say together: least squares, a joint chain, proofs."""
