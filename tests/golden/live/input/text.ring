this is no ring file
