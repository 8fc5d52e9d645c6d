"""What an ablation is made of: what is asked, how it is searched, and what the answer is."""
