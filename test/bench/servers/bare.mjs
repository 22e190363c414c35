// The least a node:http server can be: the measure for start-up time and idle memory.
import { createServer } from "node:http";

const server = createServer((_request, response) => {
  response.end('{"status":1}');
});

server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${JSON.stringify({ url, project_api_key: process.argv[3] })}\n`);
});
