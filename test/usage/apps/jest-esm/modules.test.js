import { project } from "phx-sim/jest";

const post = async (url, body) => {
  const { request } = await import("node:http");
  await new Promise((resolve) => {
    request(url, { method: "POST" }, (reply) => reply.resume().on("end", resolve)).end(JSON.stringify(body));
  });
};

test("in ES modules, and where there is no fetch", async () => {
  expect(typeof fetch).toBe("undefined");
  const ph = await project({ flags: { beta: true } });
  await post(`${ph.host}/capture/`, { api_key: ph.apiKey, event: "seen", distinct_id: "anna" });

  await expect(ph).toHaveCaptured("seen", {}, { distinctId: expect.stringContaining("ann") });
  await expect(ph).not.toHaveCaptured("unseen");
});
