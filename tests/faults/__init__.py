"""What planted faults do, and what comes of planting them."""
