// What a competent person writes to pass requests on: pipe both ways over kept-alive connections, headers as they are.
import { Agent, createServer, request } from "node:http";

const [, key, upstream] = process.argv.slice(2);
const { hostname, port } = new URL(upstream);
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, response) => {
  const { method, url: path, headers } = incoming;
  const outgoing = request({ agent, hostname, port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    answer.pipe(response);
  });
  outgoing.on("error", () => response.destroy());
  incoming.pipe(outgoing);
});

server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${JSON.stringify({ url, project_api_key: key })}\n`);
});
