"""What published files tell together: the attack on tables of any office."""
