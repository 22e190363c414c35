// Stands for a script that ends.
const { POSTHOG_HOST, POSTHOG_API_KEY } = process.env;
await fetch(`${POSTHOG_HOST}/i/v0/e/`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ api_key: POSTHOG_API_KEY, event: "report_made", distinct_id: "user-1" }),
});
