"""The proof on this machine: sessions through the real hooks, in a home that is thrown away."""
