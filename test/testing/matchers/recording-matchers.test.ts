import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { assertionsOf } from "../../../src/lab/assert/client-assertions.ts";
import { undecidable } from "../../../src/lab/sessions/rrweb.ts";
import type { Project } from "../../../src/sim/client/api.ts";
import "../../../src/testing/vitest-matchers.ts";
import { element, opening, sendPart, session, start, typedIn } from "../../lab/sessions/recorded.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

const mail = "jane@acme.test";
const card = "4242 4242 4242 4242";
const now = { quietMs: 0 };

const record = (project: Project, items: readonly unknown[], more = {}): Promise<number> =>
  sendPart({ apiKey: project.apiKey, url: sim.url, handle: (it) => sim.handle(it) }, items, more);

const input = element("input", { name: "card" });
const page = () => opening(element("body", {}, "Hello", input));

const failure = async (assertion: Promise<void>): Promise<string> => {
  try {
    await assertion;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("it did not fail");
};

describe("toHaveRecordedNoneOf", () => {
  test("passes for a recording without the values", async () => {
    await using project = await sim.project();
    await record(project, page());
    await expect(project).toHaveRecordedNoneOf([mail, card], now);
    expect(await failure(expect(project).not.toHaveRecordedNoneOf([mail], now))).toContain(
      "no recording has any of them",
    );
  });

  test("fails without a recording, with `.not` as well", async () => {
    await using project = await sim.project();
    for (const assertion of [
      () => expect(project).toHaveRecordedNoneOf([mail], now),
      () => expect(project).not.toHaveRecordedNoneOf([mail], now),
      () => expect(project).toHaveRecordedNoneOf([mail], { ...now, session }),
    ]) {
      expect(await failure(assertion())).toContain("there is no recording");
    }
  });

  test("names a value by its number, where it is, and not as it is", async () => {
    await using project = await sim.project();
    await record(project, [...page(), typedIn(input, "4242424242424242", start + 5_000)]);
    const assertion = expect(project).toHaveRecordedNoneOf([mail, card], now);
    const error = await assertion.then(
      () => undefined,
      (it: unknown) => it,
    );
    const text = JSON.stringify(error, Object.getOwnPropertyNames(error));
    expect(text).toContain("toHaveRecordedNoneOf(2 values)");
    expect(text).toContain(String.raw`value 2 of 2: input html > body > input[name=\"card\"] value`);
    expect(text).toContain(`/__sim/#/sessions/${session}?at=`);
    expect(text).not.toMatch(/jane@acme|4242/);
    await expect(project).not.toHaveRecordedNoneOf([card], now);
  });

  test("waits for a part that the recorder has not sent yet", async () => {
    await using project = await sim.project();
    await record(project, page());
    const assertion = failure(expect(project).toHaveRecordedNoneOf([mail]));
    // it waits in the sim once it has looked
    await sim.settle();
    await record(project, [typedIn(input, mail, start + 5_000)]);
    expect(await assertion).toContain("value 1 of 1");
  });

  test("fails if the test's limit leaves no time for the recorder", async () => {
    await using project = await sim.project();
    await record(project, page());
    const end = performance.now() + 900;
    assertionsOf(project).deadline = () => ({ at: end, limit: 1_000 });
    expect(await failure(expect(project).toHaveRecordedNoneOf([mail]))).toMatch(
      /the test's limit left \d+ ms, and the recorder sends after 2,000 ms/,
    );
  });

  test("fails if a part cannot be read, and names it", async () => {
    await using project = await sim.project();
    await record(project, [...page(), { type: 3, timestamp: start, data: { source: 0, adds: "\u001f\u008bno" } }]);
    const text = await failure(expect(project).toHaveRecordedNoneOf([mail], now));
    expect(text).toMatch(/not everything [\s\S]*adds of a mutation: bad_gzip/);
    // nothing is known: the opposite does not hold either
    expect(await failure(expect(project).not.toHaveRecordedNoneOf([mail], now))).toContain("bad_gzip");
  });

  test("fails if a session has more parts than are listed", async () => {
    await using project = await sim.project();
    const items = page();
    for (let sent = 0; sent < 2_001; sent += 69)
      await Promise.all(Array.from({ length: 69 }, () => record(project, items)));
    const text = await failure(expect(project).toHaveRecordedNoneOf([mail], now));
    expect(text).toContain(`session ${session}: parts`);
    expect(text).toContain("not_listed");
  }, 60_000);

  test("names what cannot be read as text", async () => {
    await using project = await sim.project();
    const image = element("img", { rr_dataURL: "data:image/png;base64,AAAA", alt: mail });
    await record(project, opening(element("body", {}, image)));
    const text = await failure(expect(project).toHaveRecordedNoneOf([mail], now));
    expect(text).toContain("not readable as text: image 1");
  });

  test.each(undecidable)("fails as undecided for %s, with `.not` as well, unless it is allowed", async (kind) => {
    await using project = await sim.project();
    const unread: Record<(typeof undecidable)[number], JsonObject> = {
      canvas: { type: 3, timestamp: start, data: { source: 9, id: 1 } },
      image: { type: 3, timestamp: start, data: { source: 77, src: "data:image/png;base64,AAAA" } },
      screenshot: { type: 2, timestamp: start, data: { wireframes: [{ type: "screenshot", base64: "AAAA" }] } },
      unknown: { type: 3, timestamp: start, data: { source: 77, note: "x" } },
    };
    await record(project, [...page(), unread[kind]]);
    const allowUnread = kind === "image" ? [kind, "unknown" as const] : [kind];
    for (const expectation of [expect(project), expect(project).not]) {
      const text = await failure(expectation.toHaveRecordedNoneOf([mail], now));
      expect(text).toContain("not everything of the recording can be read");
      expect(text).toMatch(new RegExp(`^ {2}${kind}: a .* cannot be read as text$`, "m"));
      expect(text).toContain("allowUnread");
    }
    await expect(project).toHaveRecordedNoneOf([mail], { ...now, allowUnread });
    await record(project, [typedIn(input, mail, start + 9)]);
    expect(await failure(expect(project).toHaveRecordedNoneOf([mail], { ...now, allowUnread }))).toContain(
      "value 1 of 1",
    );
  });

  test("refuses a kind that makes nothing undecided", async () => {
    await using project = await sim.project();
    await record(project, page());
    const options = { ...now, allowUnread: ["frame"] } as object;
    expect(await failure(expect(project).toHaveRecordedNoneOf([mail], options))).toContain(
      'expected "canvas", "image", "screenshot" or "unknown", got "frame"',
    );
  });

  test.each([[[]], [[1]], [["ab"]], ["a text"], [["x".repeat(1_001)]]])(
    "refuses values %#, and does not show them",
    async (values) => {
      await using project = await sim.project();
      const text = await failure(expect(project).toHaveRecordedNoneOf(values as string[], now));
      expect(text).toMatch(/^toHaveRecordedNoneOf\(.*\): (expected a list|value 1 of 1 must be)/);
      expect(text).not.toMatch(/xxx|a text/);
    },
  );

  test("refuses an unknown option", async () => {
    await using project = await sim.project();
    const options = { quiet: 1 } as object;
    expect(await failure(expect(project).toHaveRecordedNoneOf([mail], options))).toMatch(
      /unknown option "quiet"; did you mean "quietMs"/i,
    );
  });
});

describe("toHaveRecorded", () => {
  test("waits for a recording", async () => {
    await using project = await sim.project();
    const assertion = expect(project).toHaveRecorded();
    await sim.settle();
    await record(project, page());
    await assertion;
    expect(await failure(expect(project).not.toHaveRecorded(now))).toContain(`session ${session}: 1 part`);
    expect(await failure(expect(project).toHaveRecorded({ timeoutMs: 0, session: "other" }))).toContain(
      "there is no recording",
    );
  });

  test("with .not there is none", async () => {
    await using project = await sim.project();
    await expect(project).not.toHaveRecorded(now);
    expect(await failure(expect(project).toHaveRecorded({ timeoutMs: 0 }))).toContain("is the recorder on?");
  });
});

test("the client lists, shows and searches recordings", async () => {
  await using project = await sim.project();
  await record(project, page());
  const [listed] = await project.recordings.list();
  expect(listed).toMatchObject({ id: session, project: project.id, recording: { parts: 1 } });
  expect((await project.recordings.show(session)).texts).toMatchObject({ text: 4 });
  expect((await project.recordings.search(["Hello"])).finds).toMatchObject([{ value: 1, path: "html > body" }]);
  await expect(project.recordings.show("none")).rejects.toThrow("there is no session");
});
