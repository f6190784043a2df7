"""What the embedded dataset mini is made of; see make_mini.py beside this folder."""
