// Stands for an app: a page that sends nothing by itself, and a reverse proxy for PostHog at /ingest.
import { createServer, request } from "node:http";

const {
  POSTHOG_HOST = "https://us.i.posthog.com",
  POSTHOG_API_KEY: key = `phc_${"shop".repeat(11).slice(1)}`,
  PORT = "0",
} = process.env;

const page = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<button id="accept" type="button">Accept</button>
<script>
  const event = { api_key: "${key}", event: "$pageview", distinct_id: "u1", properties: { $current_url: location.href } };
  const body = JSON.stringify(event);
  fetch("${POSTHOG_HOST}/i/v0/e/", { method: "POST", headers: { "content-type": "application/json" }, body });
</script>`;

function pass(incoming, response) {
  const { method, headers } = incoming;
  const url = new URL(incoming.url.slice("/ingest".length), POSTHOG_HOST);
  const outgoing = request(url, { method, headers: { ...headers, host: url.host } }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  outgoing.on("error", () => response.destroy());
  incoming.pipe(outgoing);
}

const server = createServer((incoming, response) => {
  if (incoming.url.startsWith("/ingest/")) pass(incoming, response);
  else response.setHeader("content-type", "text/html").end(page);
});
server.listen(Number(PORT), "127.0.0.1", () =>
  console.log(`ready at http://localhost:${server.address().port}`),
);
