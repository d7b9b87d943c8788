"""The page of a first look: one HTML file with words, tables and pictures, and no record."""
