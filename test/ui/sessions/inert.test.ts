import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import { inertEvents } from "../../../ui/views/sessions/player/inert.ts";

const element = (tagName: string, attributes: JsonObject = {}, childNodes: Json[] = []): JsonObject => ({
  type: 2,
  id: 1,
  tagName,
  attributes,
  childNodes,
});

/** The node as the player gets it. */
function inert(node: Json): JsonObject {
  const { events } = inertEvents([{ type: 2, timestamp: 1, data: { node } }]);
  return events[0]?.data.node as JsonObject;
}

const attributesOf = (tag: string, attributes: JsonObject): Json | undefined =>
  inert(element(tag, attributes)).attributes;

const dot = "data:image/png;base64,AAAA";

describe("a recorded page in the player", () => {
  test.each<[string, JsonObject, JsonObject]>([
    ["img", { src: "http://evil.test/a.png", srcset: "b.png 2x", onerror: "alert(1)", alt: "A" }, { alt: "A" }],
    ["img", { src: dot, width: 10 }, { src: dot, width: 10 }],
    ["a", { href: "javascript:alert(1)", ping: "http://evil.test", target: "_top" }, { href: "#" }],
    ["a", { href: "#top" }, { href: "#top" }],
    ["form", { action: "http://evil.test", class: "f" }, { class: "f" }],
    ["iframe", { src: dot, srcdoc: "<script>alert(1)</script>" }, {}],
    ["meta", { "http-equiv": "refresh", content: "0;url=http://evil.test" }, {}],
    ["link", { rel: "stylesheet", href: "http://evil.test/a.css" }, { rel: "stylesheet" }],
    ["video", { poster: "http://evil.test", src: "data:text/html,x", autoplay: "" }, {}],
    ["div", { style: "background: url(http://evil.test/x)", title: "javascript:x" }, { style: "background: none" }],
    ["div", { "1 bad": "x", "on click": "x", rr_dataURL: "http://evil.test" }, {}],
  ])("%s %j", (tag, given, kept) => {
    expect(attributesOf(tag, given)).toEqual(kept);
  });

  test.each(["script", "SCRIPT", "base", "object", "embed", "no tag", ""])("<%s> becomes an empty element", (tag) => {
    expect(inert(element(tag, { src: "x" }, [{ type: 3, id: 2, textContent: "alert(1)" }]))).toMatchObject({
      tagName: "span",
      attributes: {},
      childNodes: [],
    });
  });

  test("styles load nothing", () => {
    const css = '@import "http://evil.test"; a{background:URL("http://evil.test/x")} b{background:url(#g)}';
    const style = inert(element("style", { _cssText: css }, [{ type: 3, id: 2, textContent: css }]));
    expect(style.attributes).toEqual({ _cssText: " a{background:none} b{background:url(#g)}" });
    expect(JSON.stringify(style)).not.toContain("evil");
  });

  test("changes of the page are cleaned in the same way", () => {
    const { events, unloaded } = inertEvents([
      {
        type: 3,
        timestamp: 1,
        data: {
          source: 0,
          texts: [{ id: 1, value: "a{background:url(http://evil.test)}" }],
          attributes: [
            {
              id: 1,
              attributes: { src: "http://evil.test", onclick: "x", style: { background: "url(http://evil.test)" } },
            },
          ],
          removes: "damaged",
          adds: [{ parentId: 1, nextId: null, node: element("script", { src: "http://evil.test" }) }],
        },
      },
      { type: 3, timestamp: 2, data: { source: 8, adds: [{ rule: "@import 'http://evil.test'" }] } },
      { type: 3, timestamp: 3, data: { source: 10, fontSource: "url(http://evil.test)" } },
      { type: 6, timestamp: 4, data: { plugin: "x" } },
    ]);
    expect(JSON.stringify(events)).not.toContain("evil");
    expect(events.map((it) => it.timestamp)).toEqual([1, 2]);
    expect(unloaded).toBeGreaterThan(2);
  });

  test("damaged nodes become something that can be drawn", () => {
    expect(
      inert({ type: 0, id: 1, compatMode: "BackCompat", childNodes: [null, 7, { type: 99 }, element("p", { a: [] })] }),
    ).toEqual({
      type: 0,
      id: 1,
      childNodes: [
        { type: 5, id: 0, textContent: "" },
        { type: 5, id: 0, textContent: "" },
        { type: 5, id: 0, textContent: "" },
        { type: 2, id: 1, tagName: "p", attributes: {}, childNodes: [] },
      ],
    });
    expect(inertEvents([{ type: 2, timestamp: 1, data: {} }]).events).toEqual([]);
  });
});
