// Reads the body to its end, looks at nothing, answers with the text of a file: what cannot be undercut.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [, key, file] = process.argv.slice(2);
const body = readFileSync(file);

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
    response.end(body);
  });
});

server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${JSON.stringify({ url, project_api_key: key })}\n`);
});
