"""What bench/run.py and bench/soak.py are made of. Python standard library only."""
