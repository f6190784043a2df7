"""Reports: terminal, JSON record, HTML, JUnit."""
