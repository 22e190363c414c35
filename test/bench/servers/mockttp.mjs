// The same with mockttp alone: everything is forwarded, nothing recorded.
import { getLocal } from "mockttp";

const [, key, upstream] = process.argv.slice(2);
const server = getLocal({ recordTraffic: false, suggestChanges: false });
await server.start();
await server.forAnyRequest().thenForwardTo(upstream);
process.stdout.write(
  `${JSON.stringify({ url: server.url.replace("localhost", "127.0.0.1"), project_api_key: key })}\n`,
);
