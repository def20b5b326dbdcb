"""The engine: what is done with one input, and a run of it over many, in one process or several."""
