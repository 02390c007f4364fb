"""What bench/chaos.py is made of."""
