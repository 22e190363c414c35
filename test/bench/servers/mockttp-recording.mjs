// mockttp alone as a recorder: answers captures, remembers them, and looks through them for a user.
import { getLocal } from "mockttp";

const [, key] = process.argv.slice(2);
const server = getLocal({ recordTraffic: true, suggestChanges: false });
await server.start();
const body = '{"status":1}';
const captures = await server
  .forPost("/capture/")
  .thenReply(200, body, { "content-type": "application/json", "content-length": String(body.length) });

async function countOf(user) {
  let found = 0;
  for (const request of await captures.getSeenRequests()) {
    if ((await request.body.getText()).includes(`"distinct_id":"${user}"`)) found++;
  }
  return found;
}

await server
  .forGet("/found")
  .thenCallback(async ({ url }) => ({ statusCode: 200, json: await countOf(new URL(url).searchParams.get("user")) }));
const url = server.url.replace("localhost", "127.0.0.1");
process.stdout.write(`${JSON.stringify({ url, project_api_key: key })}\n`);
