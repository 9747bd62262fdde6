enum PlaceholderSimulation {}
