"""The application of the workbench: who may open it, its frame, its sessions."""
