"""Tables of sums as they are held: axes, contributions, cells counted anew, how they add up."""
