"""What a request costs, counted: shapes, wires to send them, counters to read, budgets to hold them against."""
