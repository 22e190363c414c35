import { defineConfig } from "cypress";
import { phxTasks } from "./cypress/phx-sim";

export default defineConfig({
  e2e: {
    baseUrl: "http://localhost:3000",
    env: { PHX_SIM_URL: process.env.PHX_SIM_URL },
    setupNodeEvents(on) {
      on("task", phxTasks());
    },
  },
});
