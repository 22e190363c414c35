// Pages that are connected to a feed: they count what comes and look whether something is missing. One of them may take
// nothing. Writes "ready" once all are subscribed; when its input ends: a JSON result, once nothing more comes.
import { WebSocket } from "ws";

const [url, count, stalled] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const pages = [];
let ready = 0;
let heardAt = performance.now();

/** From and to stand at the front of a frame: it need not be parsed. */
const range = /^\{"t":"rows","from":(\d+),"to":(\d+)/;

function heard(page, data) {
  heardAt = performance.now();
  const head = data.latin1Slice(0, Math.min(80, data.length));
  const rows = range.exec(head);
  if (rows) {
    if (page.last !== 0 && Number(rows[1]) !== page.last + 1) page.missing++;
    page.first ||= Number(rows[1]);
    page.last = Number(rows[2]);
    page.reported = page.last - page.first + 1;
  } else if (head.startsWith('{"t":"one"')) page.reported++;
  else if (head.startsWith('{"t":"gap"')) page.missing++;
  else if (head.startsWith('{"t":"subscribed"')) {
    if (page.isStalled) page.socket.pause();
    if (++ready === count) process.stdout.write("ready\n");
  }
}

for (let i = 0; i < count; i++) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const page = { socket, isStalled: i < stalled, first: 0, last: 0, reported: 0, missing: 0 };
  pages.push(page);
  socket.on("message", (data) => heard(page, data));
  socket.on("error", () => {});
  socket.on("open", () => {
    socket.send('{"t":"hello","v":1}');
    socket.send('{"t":"subscribe","id":1,"events":"","requests":null}');
  });
}

function finish() {
  if (performance.now() - heardAt < 300) return setTimeout(finish, 100);
  const taking = pages.filter((page) => !page.isStalled);
  const reported = taking.map((page) => page.reported);
  const missing = taking.reduce((sum, page) => sum + page.missing, 0);
  process.stdout.write(`${JSON.stringify({ reported, missing })}\n`, () => process.exit());
}
process.stdin.resume().on("end", finish);
