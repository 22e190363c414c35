// The rooms of src, from the ground up, and what imports what. As a program it prints them (`npm run house`);
// test/structure.test.ts enforces them.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { pathToFileURL } from "node:url";

/** room → its slices, from the ground up. A slice imports what stands before it; "." are the room's own files. */
export const rooms = {
  kernel: ["base", "codec", "http", "store", "call", "command"],
  state: ["documents", "journal", "persons"],
  service: ["capture", "api-frame", "flags", "query", "batch-exports", "management"],
  lab: [
    ...["egress", "faults", "clock", "tapes", "generate", "plan", "test-projects", "scenario", "sessions"],
    ...["exceptions", "person-history", "journeys", "assert", "lint", "proxy-check"],
  ],
  sim: ["folder", "server", "client", ".", "command"],
  testing: ["run-report", "matchers", "."],
  tools: [
    ...["generate", "verify", "call-coverage", "baseline", "exec", "doctor", "init", "check", "live-project", "mcp"],
  ],
  cli: ["."],
};

/** Imports that go up, with the reason. */
export const exceptions = [
  {
    from: "kernel/call/errors.ts",
    to: "lab/assert/match/report-shapes.ts",
    reason: "the error of a failed assertion carries its report (a type)",
  },
  { from: "sim/control-slices.ts", to: "tools/mcp/rows.ts", reason: "the sim serves MCP on its port" },
  { from: "testing/own-sim.ts", to: "cli/commands.ts", reason: "a test run starts its sim as `exec` does" },
];

/** Static, dynamic and type imports alike: `from "x"`, `import "x"`, `import("x")`. */
const importPattern = /(?:^(?:import|export)\b[^"';]*?\bfrom\s*|^import\s*|\bimport\(\s*)"([^"]+)"/gm;

const withoutComments = (code) => code.replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");

/** What was read: the files, their lines, and their imports: `target` is a path below src, or a package. */
export function readHouse(source) {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.c?ts$/.test(file));
  const read = files.map((file) => ({ file, code: readFileSync(join(source, file), "utf8") }));
  const imports = read.flatMap(({ file, code }) =>
    [...withoutComments(code).matchAll(importPattern)].map(([how, target]) => ({
      file,
      isLocal: target.startsWith("."),
      isLate: how.startsWith("import("),
      target: target.startsWith(".") ? posix.join(posix.dirname(file), target) : target,
    })),
  );
  return { files, imports, lines: new Map(read.map(({ file, code }) => [file, code.split("\n").length - 1])) };
}

/** `room/slice` of a file; `room` of a room's own files, and the name of a file that stands in no room. */
export function placeOf(file) {
  const [room = "", slice = "", rest] = file.split("/");
  return rest !== undefined && rooms[room]?.includes(slice) ? `${room}/${slice}` : room.replace(/\.ts$/, "");
}

/** All places, from the ground up; the public entries stand above the parts of `testing` that they export. */
export const floors = Object.entries(rooms).flatMap(([room, slices]) =>
  slices.flatMap((slice) => {
    const place = slice === "." ? room : `${room}/${slice}`;
    return place === "testing/run-report" ? [place, "index", "plan"] : [place];
  }),
);

/** Local imports between places: those that go up, and the others. */
export function arrowsOf({ imports }) {
  const between = imports
    .filter(({ isLocal }) => isLocal)
    .map((it) => ({ ...it, from: placeOf(it.file), to: placeOf(it.target) }))
    .filter(({ from, to }) => from !== to);
  const goesUp = ({ from, to }) => floors.indexOf(to) > floors.indexOf(from);
  return { between, upward: between.filter(goesUp) };
}

const isException = ({ file, target }) => exceptions.some(({ from, to }) => from === file && to === target);

/** Ways from a file back to itself through what it imports, types and dynamic imports included, but for exceptions. */
export function circlesOf({ files, imports }) {
  const graph = new Map(files.map((file) => [file, []]));
  for (const it of imports) {
    if (it.isLocal && it.target !== it.file && !isException(it)) graph.get(it.file)?.push(it.target);
  }
  const done = new Set();
  const path = [];
  const circles = [];
  function visit(file) {
    const at = path.indexOf(file);
    if (at >= 0) circles.push([...path.slice(at), file].join(" → "));
    if (at >= 0 || done.has(file)) return;
    path.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  }
  for (const file of files) visit(file);
  return circles;
}

function table(house) {
  const { between, upward } = arrowsOf(house);
  const linesIn = (place) =>
    [...house.lines].reduce((sum, [file, lines]) => (placeOf(file) === place ? sum + lines : sum), 0);
  const places = (room) => rooms[room].map((it) => (it === "." ? room : `${room}/${it}`));
  const arrows = new Set(between.map(({ from, to }) => `${from} → ${to}`));
  const rows = Object.keys(rooms).map((room) => {
    const slices = places(room).map((place) => [place.slice(room.length + 1) || "(own)", linesIn(place)]);
    const lines = slices.reduce((sum, [, it]) => sum + it, 0);
    return `${room.padEnd(8)} ${String(lines).padStart(7)}  ${slices.map(([name, it]) => `${name} ${it}`).join(", ")}`;
  });
  return [
    `rooms ${rows.length}, slices ${floors.length}, files ${house.files.length}`,
    ...rows,
    `arrows between slices ${arrows.size}, upward imports ${upward.length}, circles ${circlesOf(house).length}`,
    ...exceptions.map(({ from, to, reason }) => `  ${from} → ${to}: ${reason}`),
  ].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(table(readHouse(join(import.meta.dirname, "../src"))));
}
