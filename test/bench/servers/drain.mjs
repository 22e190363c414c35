// Reads the body to its end, looks at nothing, answers: the floor for CPU per request.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 12 });
    response.end('{"status":1}');
  });
});

server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${JSON.stringify({ url, project_api_key: process.argv[3] })}\n`);
});
