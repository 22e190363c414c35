// The load generator: raw keep-alive sockets, one request in flight on each, prebuilt bytes. One job per process:
// a JSON job on stdin, a JSON result on stdout (the types of both are in ../load.ts).
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const job = JSON.parse(readFileSync(0, "utf8"));
const latencies = new Float64Array(4_000_000);
const result = { requests: 0, ms: 0, cpuMs: null, failures: 0, firstFailure: null, acknowledged: [] };
const clients = [];
let measuring = false;
let stopped = false;
let open = 0;
let startedAt = 0;
let startedCpu = null;

/** The bytes of one request; `number` is where the slot of digits begins, or -1. */
function requestOf(body) {
  const bytes = Buffer.from(body, "base64");
  const head = Buffer.from(`${job.head}content-length: ${bytes.length}\r\n\r\n`);
  const whole = Buffer.concat([head, bytes]);
  return { bytes: whole, number: job.slot ? whole.indexOf(job.slot) : -1 };
}

/** User and system time of the server so far, in ms; Linux counts it in ticks of 10 ms. */
function cpuOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return null;
  }
}

function fail(reason) {
  result.failures++;
  result.firstFailure ??= reason.slice(0, 500);
}

/** Length of the whole answer that begins the text, or 0 while its head is incomplete. */
function lengthOf(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return 0;
  const found = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end + 2));
  if (!found) throw new Error(`no content-length in ${text.slice(0, end)}`);
  return end + 4 + Number(found[1]);
}

function writeNumber(client, request) {
  let rest = client.answered * job.connections + client.index;
  for (let i = request.number + job.slot.length - 1; i >= request.number; i--) {
    request.bytes[i] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

function send(client) {
  const request = client.requests[client.next];
  client.next = (client.next + client.stride) % client.requests.length;
  if (request.number !== -1) writeNumber(client, request);
  client.sentAt = performance.now();
  client.socket.write(request.bytes);
}

/** The next one at once, or when it is due; the time of one that is late counts from when it was. */
function sendInTurn(client) {
  if (!job.perSecond) return send(client);
  client.dueAt += (1_000 * job.connections) / job.perSecond;
  const wait = client.dueAt - performance.now();
  if (wait > 0) return setTimeout(send, wait, client);
  send(client);
  client.sentAt = client.dueAt;
}

function answered(client, text) {
  if (!/^HTTP\/1\.1 20[01] /.test(text)) fail(text);
  else client.answered++;
  if (measuring) latencies[Math.min(result.requests++, latencies.length - 1)] = performance.now() - client.sentAt;
  if (measuring && result.requests === job.requests) stop();
  if (stopped) client.socket.destroy();
  else sendInTurn(client);
}

function receive(client, chunk) {
  client.pending += chunk;
  const length = lengthOf(client.pending);
  if (length === 0 || client.pending.length < length) return;
  const text = client.pending.slice(0, length);
  client.pending = client.pending.slice(length);
  answered(client, text);
}

function closed() {
  if (!stopped && !job.untilClosed) fail("the server closed a connection");
  if (--open === 0) finish();
}

function start(index, requests) {
  const own = job.slot ? requests.map((request) => ({ ...request, bytes: Buffer.from(request.bytes) })) : requests;
  const client = {
    index,
    requests: own,
    next: index % own.length,
    stride: job.connections,
    answered: 0,
    pending: "",
    sentAt: 0,
    dueAt: performance.now(),
  };
  const buffer = Buffer.allocUnsafe(64 * 1024);
  const callback = (count, bytes) => {
    receive(client, bytes.latin1Slice(0, count));
    return true;
  };
  client.socket = connect({ port: job.port, host: "127.0.0.1", noDelay: true, onread: { buffer, callback } });
  client.socket.on("connect", () => send(client));
  client.socket.on("error", () => {});
  client.socket.on("close", closed);
  open++;
  return client;
}

/** The server's CPU time in a window, and its longest time on the clock in terms of that. */
const windowMs = 500;
const patience = 4;
/** Two windows in a row that differ by less than this share are steady. */
const tolerance = 0.05;
/** V8 compiles what has run often: before that, two windows in a row are just as slow as each other. */
const leastAnswers = 5_000;

/** The server's CPU so far, which other processes disturb less than the clock, if the system reports it. */
const soFar = () => ({
  at: performance.now(),
  ms: cpuOf(job.pid) ?? performance.now(),
  answers: clients.reduce((sum, client) => sum + client.answered, 0),
});

/**
 * Loads until an answer costs the same in two windows in a row, within the limits of the job.
 * @param from The start of this window
 * @param previous The cost of an answer in the window before
 */
function warmUp(began, from = began, previous = Number.NaN) {
  const { leastMs, mostMs } = job.warmup;
  const now = soFar();
  const spent = now.ms - began.ms;
  if (spent >= mostMs || now.at - began.at >= patience * mostMs) return measure();
  const isOpen = now.ms - from.ms < windowMs && now.at - from.at < patience * windowMs;
  if (isOpen) return setTimeout(warmUp, 100, began, from, previous);
  const cost = (now.ms - from.ms) / (now.answers - from.answers);
  const isSteady = Math.abs(cost / previous - 1) < tolerance;
  if (isSteady && spent >= leastMs && now.answers >= leastAnswers) measure();
  else setTimeout(warmUp, 100, began, now, cost);
}

function measure() {
  measuring = true;
  startedAt = performance.now();
  startedCpu = cpuOf(job.pid);
  setTimeout(stop, job.ms);
}

function stop() {
  if (stopped) return;
  result.ms = performance.now() - startedAt;
  const cpu = cpuOf(job.pid);
  if (cpu !== null && startedCpu !== null) result.cpuMs = cpu - startedCpu;
  measuring = false;
  stopped = true;
  setTimeout(giveUp, 10_000).unref();
}

/** A server that owes an answer for ten seconds has lost it. */
function giveUp() {
  fail(`${open} requests were never answered`);
  finish();
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function finish() {
  if (measuring) stop();
  const sorted = latencies.subarray(0, Math.min(result.requests, latencies.length)).sort();
  const times = { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: sorted.at(-1) ?? 0 };
  const acknowledged = clients.map((client) => client.answered);
  process.stdout.write(JSON.stringify({ ...result, ...times, acknowledged }), () => process.exit());
}

const requests = job.bodies.map(requestOf);
for (let i = 0; i < job.connections; i++) clients.push(start(i, requests));
warmUp(soFar());
