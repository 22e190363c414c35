import { afterEach, expect, test, vi } from "vitest";
import { connectSim } from "../../src/index.ts";
import startForJest from "../../src/testing/jest-global.ts";
import endForJest from "../../src/testing/jest-teardown.ts";
import { setup } from "../../src/testing/vitest-global.ts";

afterEach(() => vi.unstubAllEnvs());

const sims = { "with a token of its own": { token: "sixteen-characters" }, "open to the network": { host: "0.0.0.0" } };

test.each(Object.entries(sims))("vitest's workers get the token of a sim %s", async (_, phxSim) => {
  vi.stubEnv("PHX_SIM_URL", undefined);
  vi.stubEnv("PHX_SIM_TOKEN", undefined);
  const provided: Record<string, string> = {};
  const end = await setup({
    provide: (key, value) => {
      provided[key] = value;
    },
    config: { provide: { phxSim } },
  });
  const token = provided.phxSimToken ?? "";
  await using sim = await connectSim(provided.phxSimUrl, { token });
  expect((await sim.info()).name).toBe("phx-sim");
  await expect(connectSim(provided.phxSimUrl)).rejects.toMatchObject({ code: "control_token_required" });
  await end?.();
});

test.each(Object.entries(sims))("jest's workers get the token of a sim %s", async (_, phxSim) => {
  vi.stubEnv("PHX_SIM_URL", undefined);
  vi.stubEnv("PHX_SIM_TOKEN", "of-another-sim-elsewhere");
  await startForJest(undefined, { globals: { phxSim } });
  await using sim = await connectSim();
  expect((await sim.info()).name).toBe("phx-sim");
  await endForJest();
  expect([process.env.PHX_SIM_URL, process.env.PHX_SIM_TOKEN]).toEqual([undefined, "of-another-sim-elsewhere"]);
});
