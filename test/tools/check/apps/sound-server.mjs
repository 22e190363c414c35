import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { PostHog } from "posthog-node";

const posthog = new PostHog("phc_T3vYpQ9sLm2XkR7wBn4ZcJ8hGd5FaUe6KiOoVtCq1Zx", {
  host: "https://us.i.posthog.com",
  flushAt: 1,
});
const page = readFileSync(new URL("sound-server.page.html", import.meta.url));
const sdk = readFileSync(process.env.SDK_FILE);

const server = createServer((request, response) => {
  if (request.url === "/posthog.mjs") {
    response.writeHead(200, { "content-type": "text/javascript" }).end(sdk);
    return;
  }
  if (request.url === "/") posthog.capture({ distinctId: "user-8231", event: "shop opened" });
  response.writeHead(200, { "content-type": "text/html" }).end(page);
});
server.listen(0, "127.0.0.1", () => console.log(`ready at http://localhost:${server.address().port}/`));
