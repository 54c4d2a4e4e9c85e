"""What runs leave behind: manifest, archive, output."""
