import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";
import { loadTapeMatcher } from "../../../../src/lab/tapes/match/tape-matcher.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import type { TapeProblem } from "../../../../src/lab/tapes/shapes.ts";
import { newFolder } from "../../../support/folder.ts";
import { asked, bodyOf, exchange, hitOf, type Said } from "./tape.ts";

const folder = newFolder();

let count = 0;
let file = "";
beforeEach(() => {
  file = join(folder, `t${count++}.tape.ndjson`);
});

async function write(said: readonly Said[]): Promise<void> {
  const writer = new TapeWriter(file, { redactor: createRedactor() });
  for (const [at, it] of said.entries()) writer.appendDecoded(exchange(it, at + 1));
  await writer.close();
}

const list = "/api/projects/1/dashboards";
const padding = "x".repeat(70_000);

test("answers come from the file", async () => {
  await write(Array.from({ length: 200 }, (_, n) => ({ target: `${list}?offset=${n}`, answer: { n } })));
  const matcher = await loadTapeMatcher(file);
  const answers = Array.from({ length: 200 }, (_, n) => matcher.answer(asked({ target: `${list}?offset=${n}` })));
  expect(answers.map(bodyOf)).toEqual(answers.map((_, n) => ({ n })));
});

test("what is in side files counts, and is answered with live addresses", async () => {
  const id = "0195f3f6-aaaa-7000-8000-000000000001";
  const live = "0195f3f6-bbbb-7000-8000-000000000002";
  const said = (who: string, note: string): Said => ({
    target: list,
    body: { who, padding, note },
    answer: { next: `https://us.posthog.com${list}?offset=1`, who, padding },
  });
  await write([said(id, "a"), said(id, "b")]);
  expect(readFileSync(file, "utf8")).not.toContain(padding);
  const matcher = await loadTapeMatcher(file);
  const answered = matcher.answer(asked(said(live, "b")));
  expect(hitOf(answered)).toBe(2);
  expect(bodyOf(answered)).toEqual({ next: `http://127.0.0.1:8010${list}?offset=1`, who: live, padding });
});

test("a side file that is gone: its body is unreadable", async () => {
  await write([{ target: list, answer: { padding } }]);
  rmSync(`${file.replace(/\.ndjson$/, "")}.d`, { recursive: true });
  const answered = (await loadTapeMatcher(file)).answer(asked({ target: list }));
  expect("hit" in answered && answered.body).toEqual({ omitted: "unreadable", bytes: expect.any(Number) });
});

test("damaged lines are reported and passed over", async () => {
  await write([{ target: list }]);
  appendFileSync(file, '{"i":\n');
  const problems: TapeProblem[] = [];
  const matcher = await loadTapeMatcher(file, { onProblem: (problem) => problems.push(problem) });
  expect(problems).toMatchObject([{ file, line: 3 }]);
  expect(matcher.ledger().total).toBe(1);
});

test("a file that was changed while it is in use", async () => {
  await write([{ target: list }]);
  const matcher = await loadTapeMatcher(file);
  writeFileSync(file, "x".repeat(readFileSync(file).length));
  expect(() => matcher.answer(asked({ target: list }))).toThrow(`${file}:2 was changed while it was in use`);
  rmSync(file);
  expect(() => matcher.answer(asked({ target: list }))).toThrow("there is no such file");
});

test.each([
  { name: "no file", content: undefined, detail: "no such file" },
  { name: "no tape", content: "hello\n", detail: "" },
  { name: "a newer one", content: '{"tape":2}\n', detail: "" },
])("$name", async ({ content, detail }) => {
  if (content !== undefined) writeFileSync(file, content);
  await expect(loadTapeMatcher(file)).rejects.toMatchObject({
    name: "TapeError",
    message: expect.stringContaining(detail),
  });
});
