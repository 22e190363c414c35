import { type Html, html, trusted } from "./html.ts";

/**
 * The little Markdown that text tiles need: headings, lists, fenced and inline code, bold, italic, links to the
 * web. Everything else stays the text that it is, HTML above all.
 */
export const renderMarkdown = (text: string): Html[] => blocksOf(text).map(renderBlock);

interface Block {
  kind: "paragraph" | "unordered" | "ordered" | "code" | "heading";
  /** 1 to 6, of headings. */
  level?: number;
  lines: string[];
}

const heading = /^(#{1,6}) +(.*)$/;
const fence = /^ {0,3}```/;

/** Kinds of lines that go on in the next line, told by how they begin. */
const items: readonly (readonly [kind: "unordered" | "ordered", start: RegExp])[] = [
  ["unordered", /^ {0,8}[-*+] +/],
  ["ordered", /^ {0,8}\d{1,9}[.)] +/],
];

/** A line alone, as a block of its kind. */
function blockOf(line: string): Block {
  const [, marks, title] = heading.exec(line) ?? [];
  if (marks !== undefined) return { kind: "heading", level: marks.length, lines: [title ?? ""] };
  for (const [kind, start] of items) {
    if (start.test(line)) return { kind, lines: [line.replace(start, "")] };
  }
  return { kind: "paragraph", lines: [line] };
}

/** Adds a line to the open block or begins another. Returns whether the last block is open then. */
function addLine(blocks: Block[], open: Block | undefined, line: string): boolean {
  const isFence = fence.test(line);
  if (open?.kind === "code") {
    if (!isFence) open.lines.push(line);
    return !isFence;
  }
  if (!isFence && line.trim() === "") return false;
  const block: Block = isFence ? { kind: "code", lines: [] } : blockOf(line);
  if (open?.kind === block.kind) open.lines.push(...block.lines);
  else blocks.push(block);
  return block.kind !== "heading";
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let isOpen = false;
  for (const line of text.split(/\r\n?|\n/)) {
    isOpen = addLine(blocks, isOpen ? blocks.at(-1) : undefined, line);
  }
  return blocks;
}

/** Headings of a text stand below the page's own. */
function renderHeading({ level = 1, lines }: Block): Html {
  const tag = `h${Math.min(6, level + 2)}`;
  return html`${trusted(`<${tag}>`)}${lines.map(inline)}${trusted(`</${tag}>`)}`;
}

const renderItems = (lines: readonly string[]): Html[] => lines.map((line) => html`<li>${inline(line)}</li>`);

const renderers: Record<Block["kind"], (block: Block) => Html> = {
  heading: renderHeading,
  paragraph: ({ lines }) => html`<p>${inline(lines.join("\n"))}</p>`,
  unordered: ({ lines }) => html`<ul>${renderItems(lines)}</ul>`,
  ordered: ({ lines }) => html`<ol>${renderItems(lines)}</ol>`,
  code: ({ lines }) => html`<pre><code>${lines.join("\n")}</code></pre>`,
};

const renderBlock = (block: Block): Html => renderers[block.kind](block);

/** Bounded, so that hostile text costs no more than its length. */
const spans = new RegExp(
  [
    "`(?<code>[^`\\n]{1,400})`",
    "\\[(?<label>[^\\]\\n]{1,400})\\]\\((?<url>https?://[^\\s()<>]{1,800})\\)",
    "\\*\\*(?!\\s)(?<bold>[^*\\n]{1,400})(?<!\\s)\\*\\*",
    "\\*(?!\\s)(?<star>[^*\\n]{1,400})(?<!\\s)\\*",
    "(?<!\\w)_(?!\\s)(?<line>[^_\\n]{1,400})(?<!\\s)_(?!\\w)",
  ].join("|"),
  "gi",
);

function renderSpan(groups: Record<string, string | undefined>): Html {
  const { code, label, url, bold, star, line } = groups;
  if (code !== undefined) return html`<code>${code}</code>`;
  if (url !== undefined) {
    return html`<a href="${url}" rel="noopener noreferrer nofollow" target="_blank">${inline(label ?? url)}</a>`;
  }
  if (bold !== undefined) return html`<strong>${inline(bold)}</strong>`;
  return html`<em>${inline(star ?? line ?? "")}</em>`;
}

/** Marks within a line; each piece between them is text. */
function inline(text: string): Html {
  const pieces: Html[] = [];
  let at = 0;
  for (const found of text.matchAll(spans)) {
    pieces.push(html`${text.slice(at, found.index)}`, renderSpan(found.groups ?? {}));
    at = found.index + found[0].length;
  }
  return html`${pieces}${text.slice(at)}`;
}
