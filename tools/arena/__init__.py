"""What tools/arena_check is made of: a strict client (wire), the checks by profile, a stand-in server to prove them."""
