"""The environments that learners train in: how they are made, stepped together and brought back."""
