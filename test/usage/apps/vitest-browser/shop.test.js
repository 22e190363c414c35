import posthog from "posthog-js";
import { expect, inject, test } from "vitest";
import { commands } from "vitest/browser";

test("a click is tracked", async () => {
  const { host, apiKey } = await commands.openProject(inject("phxSimUrl"));
  posthog.init(apiKey, { api_host: host, opt_out_useragent_filter: true });
  document.body.innerHTML = "<button>Buy now</button>";
  document.querySelector("button").click();

  posthog.capture("checkout_completed", { total: 49 });
  const event = await commands.waitForEvent(apiKey, "checkout_completed", { total: 49 });
  expect(event.properties.$lib).toBe("web");
  await commands.closeProject(apiKey);
});
