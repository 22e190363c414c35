import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";

/** Links to other schemes (`javascript:`, `data:`) stay text. */
const isSafe = (href: string): boolean => /^(?:https?:|mailto:)/i.test(href);

/** Text of users as written; marked keeps entities like `&amp;` as they are. */
const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00a0",
};
const unescaped = (text: string): string => text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (it) => entities[it] ?? it);

/** Headings of a tile are below its dashboard's and its section's. */
const headingOf = (depth: number): "h3" | "h4" => (depth < 3 ? "h3" : "h4");

function Inline({ of }: { of: Token[] | undefined }) {
  return (
    <>
      {of?.map((it, i) => (
        <Piece key={i} it={it as MarkedToken} />
      ))}
    </>
  );
}

const List = ({ it: { items, ordered, start } }: { it: Tokens.List }) => {
  const rows = items.map(({ tokens, task, checked }, i) => (
    <li key={i}>
      {task && <span aria-hidden="true">{checked ? "☑ " : "☐ "}</span>}
      <Inline of={tokens} />
    </li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{rows}</ol> : <ul>{rows}</ul>;
};

const Grid = ({ it: { header, rows } }: { it: Tokens.Table }) => (
  <div class="scrolled">
    <table class="table">
      <thead>
        <tr>
          {header.map(({ tokens }, i) => (
            <th key={i} scope="col">
              <Inline of={tokens} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {row.map(({ tokens }, j) => (
              <td key={j}>
                <Inline of={tokens} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** One token as elements. HTML stays text, images are links: a page of phx-sim loads nothing from elsewhere. */
function Piece({ it }: { it: MarkedToken }): ComponentChildren {
  switch (it.type) {
    case "heading": {
      const Heading = headingOf(it.depth);
      return (
        <Heading>
          <Inline of={it.tokens} />
        </Heading>
      );
    }
    case "paragraph":
      return (
        <p>
          <Inline of={it.tokens} />
        </p>
      );
    case "strong":
      return (
        <strong>
          <Inline of={it.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline of={it.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline of={it.tokens} />
        </del>
      );
    case "blockquote":
      return (
        <blockquote class="aside">
          <Inline of={it.tokens} />
        </blockquote>
      );
    case "code":
      return (
        <pre>
          <code>{it.text}</code>
        </pre>
      );
    case "codespan":
      return <code>{it.text}</code>;
    case "list":
      return <List it={it} />;
    case "table":
      return <Grid it={it} />;
    case "link":
      return isSafe(it.href) ? (
        <a href={it.href} target="_blank" rel="noreferrer">
          <Inline of={it.tokens} />
        </a>
      ) : (
        it.raw
      );
    case "image":
      return isSafe(it.href) ? (
        <a href={it.href} target="_blank" rel="noreferrer">
          {it.text || it.href}
        </a>
      ) : (
        it.raw
      );
    case "br":
      return <br />;
    case "hr":
      return <hr />;
    case "text":
      return it.tokens ? <Inline of={it.tokens} /> : unescaped(it.text);
    case "escape":
      return unescaped(it.text);
    case "space":
    case "def":
    case "checkbox":
      return null;
    default:
      return it.raw;
  }
}

/** A text in GitHub's Markdown as elements; never as HTML. */
export function Markdown({ text }: { text: string }) {
  return (
    <div class="insight-text" dir="auto">
      <Inline of={new Lexer({ gfm: true, breaks: true }).lex(text)} />
    </div>
  );
}
