"""What animals do besides going: sitting, lying and getting up again, and jumps, authored by key poses with IK."""
