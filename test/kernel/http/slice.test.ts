import { expect, test } from "vitest";
import { text } from "../../../src/kernel/http/reply.ts";
import { row } from "../../../src/kernel/http/row.ts";
import { rowsOf, type Slice, slice } from "../../../src/kernel/http/slice.ts";

interface GreetingPorts {
  readonly name: string;
  readonly clock: { now(): number };
}

interface SimParts extends GreetingPorts {
  readonly token: string;
}

const given: object[] = [];
const portless = slice([], () => []);

const greetings = slice(["name", "clock"], (ports: GreetingPorts) => {
  given.push(ports);
  return [row({ method: "GET", path: "/__sim/greeting", access: "control", summary: "", handle: () => text("hello") })];
});

test("a slice gets the ports that it names, and no others", () => {
  const clock = { now: () => 0 };
  const slices: readonly Slice<SimParts>[] = [greetings, portless];
  const rows = rowsOf(slices, { name: "sim", clock, token: "secret" });
  expect(rows.map((it) => it.path)).toEqual(["/__sim/greeting"]);
  expect(given).toEqual([{ name: "sim", clock }]);
});

test("types: a slice names all its ports, and a list takes only slices whose ports the sim has", () => {
  // @ts-expect-error `clock` is missing
  slice(["name"], (_: GreetingPorts) => []);
  // @ts-expect-error there is no port `token`
  slice(["name", "clock", "token"], (_: GreetingPorts) => []);
  const listed = <Ports>(slices: readonly Slice<Ports>[]) => slices.length;
  expect(listed<SimParts>([greetings])).toBe(1);
  // @ts-expect-error the sim has no port `clock`
  expect(listed<{ name: string }>([greetings])).toBe(1);
  // @ts-expect-error the sim's port `name` is of another type
  expect(listed<{ name: number; clock: { now(): number } }>([greetings])).toBe(1);
});
