import { expect, test } from "vitest";
import { createAnswers } from "../../../../src/lab/faults/answers.ts";

const call = (partition: string) => ({
  method: "POST",
  path: "/batch",
  family: "capture",
  headers: { "x-test-id": partition },
  project: () => null,
});

test("a queue that is used up is remembered, up to the last thousand", () => {
  const answers = createAnswers();
  answers.queue({ partition: "waiting" }, [{ status: 500 }]);
  for (let i = 0; i < 1_003; i++) {
    answers.queue({ partition: `p${i}` }, [{ status: 500 }]);
    expect(answers.take(call(`p${i}`))).toBeDefined();
  }
  const names = answers.list().map(({ partition }) => partition);
  expect(names).toHaveLength(1_001);
  expect(names.slice(0, 2)).toEqual(["waiting", "p3"]);
});

test("it is active while an answer waits", () => {
  const answers = createAnswers();
  const seen = [answers.active];
  answers.queue({ partition: "a" }, [{ status: 500, times: 2 }]);
  seen.push(answers.active);
  answers.take(call("a"));
  seen.push(answers.active);
  answers.take(call("a"));
  seen.push(answers.active);
  answers.queue({ project: 1 }, [{ status: 500 }]);
  seen.push(answers.active);
  answers.clear();
  expect([...seen, answers.active]).toEqual([false, true, true, false, true, false]);
});

test("whose call it is is asked only while an answer waits for a project", () => {
  const answers = createAnswers();
  const asked: string[] = [];
  const facts = { ...call("a"), headers: {}, project: () => asked.push("asked") };
  answers.queue({ partition: "a" }, [{ status: 500 }]);
  expect(answers.take(facts)).toBeUndefined();
  expect(asked).toEqual([]);
  answers.queue({ project: 1 }, [{ status: 500 }]);
  expect(answers.take(facts)).toBeDefined();
  expect(asked).toEqual(["asked"]);
});

test("keys with a meaning of their own are keys like all others", () => {
  const answers = createAnswers();
  const body = JSON.parse('{"__proto__":{"$each_uuid":1},"constructor":2}');
  answers.queue({ partition: "a" }, [{ status: 200, body }]);
  const text = () => '{"batch":[{"uuid":"__proto__"},{"uuid":"x"},{"uuid":"x"},{"uuid":5},7]}';
  expect(answers.take(call("a"))?.write({ text, requestId: undefined }).body).toBe(
    '{"__proto__":{"__proto__":1,"x":1},"constructor":2}',
  );
});
