"""Foreign files read by native code, in a process of their own."""
