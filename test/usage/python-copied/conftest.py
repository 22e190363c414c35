pytest_plugins = ["phx_sim.pytest_plugin"]
