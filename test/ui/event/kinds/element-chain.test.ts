import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import {
  actionOf,
  attributeOf,
  captionOf,
  elementsIn,
  nounOf,
  type PageElement,
  readChain,
  selectorOf,
} from "../../../../ui/views/event/kinds/element-chain.ts";

const pay =
  'button.primary.w-1.5:attr__class="primary w-1.5"attr__data-testid="pay"nth-child="2"nth-of-type="1"text="Pay now"';
const around = 'div.actions:nth-child="3"nth-of-type="2";form:attr__id="checkout"attr_id="checkout"nth-child="1";main:';

const first = (chain: string): PageElement | undefined => readChain(chain).elements[0];

describe("the chain of elements, as SDKs write it", () => {
  test("tags, ids, classes, text and attributes, the innermost first", () => {
    const { elements, ...rest } = readChain(`${pay};${around}`);
    expect(rest).toEqual({ isCut: false, isDamaged: false });
    expect(elements.map((it) => [it.tag, it.id, it.classes.join(" "), it.text])).toEqual([
      ["button", undefined, "primary w-1.5", "Pay now"],
      ["div", undefined, "actions", undefined],
      ["form", "checkout", "", undefined],
      ["main", undefined, "", undefined],
    ]);
    expect(elements[0]?.attributes).toEqual([
      ["class", "primary w-1.5"],
      ["data-testid", "pay"],
      ["nth-child", "2"],
      ["nth-of-type", "1"],
    ]);
  });

  test.each<[string, string, Partial<PageElement>]>([
    ["quotes", String.raw`a:text="say \"hi\" now"href="/x"`, { text: 'say "hi" now' }],
    ["a semicolon in a text", 'a:text="one; two";p:', { text: "one; two" }],
    ["classes with colons", 'a.md:flex.hover:red:attr__href="/"', { classes: ["md:flex", "hover:red"] }],
    [
      "attributes with colons and dots",
      'a:attr__@click.stop="x"attr__v-on:blur="y"',
      {
        attributes: [
          ["@click.stop", "x"],
          ["v-on:blur", "y"],
        ],
      },
    ],
    ["a backslash at the end", String.raw`a:text="C:\"`, { text: "C:\\" }],
    ["line ends", 'a:text="one\ntwo"', { text: "one\ntwo" }],
    ["equal signs", 'a:href="/?a=1&b="', { attributes: [["href", "/?a=1&b="]] }],
    ["no attributes", "li;ul", { tag: "li", attributes: [] }],
    ["names of every object", 'a:attr____proto__="x"attr__constructor="y"', { tag: "a" }],
  ])("%s", (_, chain, expected) => {
    expect(first(chain)).toMatchObject(expected);
    expect(readChain(chain).isDamaged).toBe(false);
  });

  test.each([
    ["cut off in a text", 'button:text="Pay', { tag: "button", text: "Pay" }],
    ["cut off in a name", 'button:text="Pay"nth-chi', { tag: "button", text: "Pay" }],
    ["without a colon", 'button text="Pay"', { tag: "button text" }],
    ["nothing but marks", ':="', { tag: "" }],
  ])("%s: what can be read, and that it is damaged", (_, chain, expected) => {
    expect(readChain(chain).isDamaged).toBe(true);
    expect(first(chain)).toMatchObject(expected);
  });

  test("ten thousand elements, and texts made to be slow, come to an end", () => {
    const many = readChain(Array.from({ length: 10_000 }, (_, i) => `div.c${i}:nth-child="1"`).join(";"));
    expect([many.elements.length, many.isCut, many.isDamaged]).toEqual([200, true, false]);
    for (const part of ['\\"', ":", ":a", "a;", '="', '=";', "a.", '"', ";"])
      expect(readChain(part.repeat(100_000)).elements.length).toBeLessThanOrEqual(200);
    expect(readChain(`a:text="${'\\"'.repeat(90_000)}`).elements).toHaveLength(1);
  });
});

describe("the elements of an event", () => {
  const slow = { tag_name: "input", $el_text: "Slow", classes: ["a", 5, null], attr__id: "s", nth_child: 1 };

  test("the list of older SDKs", () => {
    const { elements } = elementsIn({ $elements: [slow, { tag_name: 7, attributes: { "data-x": true } }] });
    expect(elements).toEqual([
      { tag: "input", id: "s", classes: ["a", "5"], text: "Slow", attributes: [["nth-child", "1"]] },
      { tag: "7", id: undefined, classes: [], text: undefined, attributes: [["data-x", "true"]] },
    ]);
  });

  test.each<[string, JsonObject, [count: number, isCut: boolean, isDamaged: boolean]]>([
    ["none", {}, [0, false, false]],
    ["a number", { $elements: 5 }, [0, false, true]],
    ["a number and a list", { $elements_chain: 5, $elements: [slow] }, [1, false, false]],
    ["broken items", { $elements: [null, 1, [slow], slow] }, [1, false, true]],
    ["ten thousand", { $elements: Array.from({ length: 10_000 }, () => slow) }, [200, true, false]],
  ])("%s", (_, properties, expected) => {
    const { elements, isCut, isDamaged } = elementsIn(properties);
    expect([elements.length, isCut, isDamaged]).toEqual(expected);
  });
});

describe("what was done, in words", () => {
  test.each([
    ['button:text="Pay"', "button", "Pay"],
    ['a:text=" "attr__aria-label="Close"', "link", "Close"],
    ['input:attr__type="checkbox"attr__name="terms"', "checkbox", "terms"],
    ['input:attr__type="__proto__"', "field", undefined],
    ['div:attr__role="button"', "button", undefined],
    ["svg", "svg element", undefined],
    ["constructor", "constructor element", undefined],
    ["", undefined, undefined],
  ])("%s", (chain, noun, caption) => {
    const element = first(chain);
    expect(element && nounOf(element)).toBe(noun);
    expect(element && captionOf(element)).toBe(caption);
  });

  test.each([
    ["$autocapture", {}, "Click on"],
    ["$autocapture", { $event_type: "submit" }, "Submission of"],
    ["$autocapture", { $event_type: "__proto__" }, "__proto__ on"],
    ["$autocapture", { $event_type: 5 }, "Click on"],
    ["$rageclick", { $event_type: "click" }, "Repeated clicks on"],
    ["$dead_click", {}, "Click without effect on"],
  ])("%s %j: %s", (name, properties, text) => {
    expect(actionOf(name, properties)).toBe(text);
  });
});

describe("a selector", () => {
  const selector = (chain: string, index = 0) => selectorOf(readChain(chain), index);
  test.each([
    ["names the element below the nearest id", `${pay};${around}`, '[data-testid="pay"]'],
    ["is the id alone where there is one", 'a:attr_id="x";div:attr_id="y"', "a#x"],
    ["has its place where nothing names it", 'li:nth-of-type="3";ul:attr_id="y"', "ul#y li:nth-of-type(3)"],
    ["escapes", 'a.w-1\\/2:attr_id="1 a#b"', String.raw`a#\31 \ a\#b`],
    ["escapes texts", String.raw`a:attr__name="\"]x"`, String.raw`a[name="\"]x"]`],
    ["of a broken tag", "<img>", "*"],
    ["of nothing", "", ""],
  ])("%s", (_, chain, expected) => {
    expect(selector(chain)).toContain(expected);
  });

  test("of an element around it", () => {
    expect(selector(`${pay};${around}`)).toBe('form#checkout button.primary.w-1\\.5[data-testid="pay"]');
    expect(selector(`${pay};${around}`, 1)).toBe("form#checkout div.actions");
    expect(selector(pay, 9)).toBe("");
  });

  test("attributes by name", () => {
    const element = first(pay);
    expect(element && attributeOf(element, "data-testid")).toBe("pay");
  });
});
