"""Language models behind an API: requests, pacing, retries."""
