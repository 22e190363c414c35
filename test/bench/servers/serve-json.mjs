import { createServer } from "node:http";

/** Answers each request, once its body is read, with what `answer(request, chunks)` returns: [status, JSON]. */
export function serveJson(key, answer) {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const [status, body] = answer(request, chunks);
      const text = JSON.stringify(body);
      response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
      response.end(text);
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const url = `http://127.0.0.1:${server.address().port}`;
    process.stdout.write(`${JSON.stringify({ url, project_api_key: key })}\n`);
  });
}
