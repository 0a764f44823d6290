"""What several pages show: pictures, tables, progress, errors, badges, and files to save."""
