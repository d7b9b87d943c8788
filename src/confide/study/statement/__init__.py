"""What a study states before anything is computed: plans, sweeps, rules, documents."""
