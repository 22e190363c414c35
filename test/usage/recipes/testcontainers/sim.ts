import { connectSim } from "phx-sim";
import { GenericContainer, Wait } from "testcontainers";

const token = crypto.randomUUID();
const container = await new GenericContainer("phx-sim")
  .withEnvironment({ PHX_SIM_TOKEN: token })
  .withExposedPorts(7490)
  .withWaitStrategy(Wait.forHealthCheck())
  .start();
export const sim = await connectSim(`http://${container.getHost()}:${container.getMappedPort(7490)}`, {
  token,
});
