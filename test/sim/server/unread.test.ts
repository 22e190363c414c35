import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { App } from "../../../src/kernel/http/app.ts";
import type { Call } from "../../../src/kernel/http/call.ts";
import { Gauge } from "../../../src/kernel/http/gauge.ts";
import type { Reply } from "../../../src/kernel/http/reply.ts";
import { type Listener, listen } from "../../../src/sim/server/listener.ts";

const host = "127.0.0.1";
let listener: Listener | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const it of sockets.splice(0)) it.destroy();
  await listener?.close(0);
});

/** A server whose clients must take something within `bodyTimeout`. */
async function serve(reply: (call: Call) => Reply, bodyTimeout: number): Promise<void> {
  const app: App = {
    handle: async (call) => reply(call),
    bodyLimit: () => 1_000,
    refuseTooLarge: () => Promise.reject(new Error("the body is not too large")),
    abandon: () => Promise.reject(new Error("no call is aborted")),
  };
  listener = await listen({ app, clock: systemClock, gauge: new Gauge(), host, port: 0, bodyTimeout });
}

/** A client that sends a request and reads nothing until it is resumed. */
function ask(path: string): Socket {
  const socket = connect(listener?.port ?? 0, host);
  sockets.push(socket);
  socket.on("error", () => {});
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

async function rest(socket: Socket): Promise<{ length: number; end: string }> {
  let length = 0;
  let end = "";
  socket.on("data", (chunk) => {
    length += chunk.length;
    end = (end + chunk).slice(-200);
  });
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
  return { length, end };
}

test("a stream whose client reads nothing ends with the reason, and no more of it is made", async () => {
  let made = 0;
  const stream = new EventEmitter();
  const left = once(stream, "left");
  async function* texts() {
    try {
      for (;;) {
        made++;
        yield "x".repeat(64 * 1024);
      }
    } finally {
      stream.emit("left");
    }
  }
  await serve(() => ({ status: 200, headers: [], body: null, stream: texts(), stalled: "too slow" }), 300);
  const socket = ask("/");
  await left;
  const { length, end } = await rest(socket);
  expect(end).toContain("too slow");
  expect(length).toBeLessThan((made + 1) * 64 * 1024 + 10_000);
});

const bodyOf = (bytes: number) => ({ status: 200, headers: [], body: Buffer.alloc(bytes, "x") });

test("a client that does not read a large response is disconnected", async () => {
  const large = bodyOf(40_000_000);
  await serve(() => large, 300);
  const socket = ask("/");
  // what is written to a closed connection fails
  const knock = setInterval(() => socket.write("x"), 1_000);
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(knock);
  expect(socket.bytesRead).toBeLessThan(40_000_000);
});

test("of more large responses than 256 MB the oldest unread ones are cut off; those that are read arrive", async () => {
  const large = bodyOf(60_000_000);
  const small = bodyOf(10);
  await serve(({ path }) => (path === "/small" ? small : large), 60_000);
  const stuck = [ask("/1"), ask("/2"), ask("/3"), ask("/4")];
  await Promise.all(stuck.map((it) => once(it, "readable")));
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`http://${host}:${listener?.port}/read`);
    expect((await response.arrayBuffer()).byteLength).toBe(60_000_000);
  }
  const first = await rest(stuck[0] as Socket);
  expect(first.length).toBeLessThan(60_000_000);
  expect(await (await fetch(`http://${host}:${listener?.port}/small`)).text()).toHaveLength(10);
});
