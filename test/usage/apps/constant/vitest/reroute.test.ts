import { request } from "node:https";
import { expect, test as withProject } from "phx-sim/vitest";
import { posthog, trackSignup } from "../analytics.js";

const test = withProject.extend({ phxGuard: "reroute" });

test("a signup is tracked", async ({ ph }) => {
  trackSignup("anna", "pro");
  await posthog.flush();

  await expect(ph).toHaveCaptured("signed_up", { plan: "pro" });
});

test("another test has a project of its own", async ({ ph }) => {
  trackSignup("ben", "free");
  await posthog.flush();

  await expect(ph).toHaveCapturedTimes("signed_up", 1);
});

test("a test without a project needs none", async () => {
  trackSignup("carl", "free");
  await posthog.flush();
});

test("a client that uses no fetch is rerouted, too", async ({ ph }) => {
  const body = JSON.stringify({ api_key: "phc_other", event: "ordered", distinct_id: "anna" });
  const status = await new Promise((resolve, reject) => {
    request("https://eu.i.posthog.com/capture/", { method: "POST" }, (answer) =>
      resolve(answer.resume().statusCode),
    )
      .on("error", reject)
      .end(body);
  });
  expect(status).toBe(200);
  await expect(ph).toHaveCaptured("ordered");
});

withProject.extend({ phxGuard: { reroute: true, hosts: ["e.myapp.example"] } })(
  "so is a domain of one's own",
  async ({ ph }) => {
    const body = JSON.stringify({ api_key: "phc_other", event: "ordered", distinct_id: "anna" });
    await fetch("https://e.myapp.example/capture/", { method: "POST", body });
    await expect(ph).toHaveCaptured("ordered");
  },
);
