import { expect, test } from "@jest/globals";
import { project } from "phx-sim/jest";
import { posthog } from "posthog-js";

test("a visitor who has opted out", async () => {
  const ph = await project();
  posthog.init(ph.apiKey, {
    api_host: ph.host,
    autocapture: false,
    disable_external_dependency_loading: true,
    opt_out_capturing_by_default: true,
    opt_out_useragent_filter: true,
  });
  posthog.capture("page_seen");
  await expect(ph).toHaveCaptured("page_seen", {}, { timeoutMs: 100 });
});
