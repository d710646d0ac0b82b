"""The proof on this machine: sessions through the real hooks, in homes that are thrown away."""
