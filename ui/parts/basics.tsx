import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";
import { clockText, dateText, exactText, numberText, plain, type Tone } from "./text.ts";

const marks: Readonly<Partial<Record<Tone, IconName>>> = {
  good: "tick",
  odd: "alert",
  bad: "close",
  note: "event",
  accent: "dot",
};

/** A short state. */
export function Badge({ tone = "plain", children, title, mark = marks[tone], isMarked = true }: BadgeProps) {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {isMarked && mark && <Icon of={mark} class="badge-mark" />}
      {children}
    </span>
  );
}

interface BadgeProps {
  tone?: Tone;
  title?: string | undefined;
  /** Instead of the tone's mark. */
  mark?: IconName;
  /** Shows the mark; default true. */
  isMarked?: boolean;
  children: ComponentChildren;
}

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "kind"> & {
  /** `main`: primary action; `quiet`: no frame; `danger`: cannot be undone. */
  kind?: "main" | "plain" | "quiet" | "danger";
  isPressed?: boolean | undefined;
};

export function Button({ kind = "plain", isPressed, class: more, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button button-${kind}${more ? ` ${String(more)}` : ""}`}
      aria-pressed={isPressed}
      {...rest}
    />
  );
}

/** A time of day; `isWhole` adds the date, `isExact` also milliseconds and zone. The tooltip is in UTC. */
export function Time({ at: given, isWhole = false, isExact = false }: TimeProps) {
  const at = typeof given === "string" ? Date.parse(given) : given;
  const iso = Number.isFinite(at) ? new Date(at).toISOString() : "";
  return (
    <time dateTime={iso} title={iso} class="time">
      {isExact ? exactText(at) : isWhole ? dateText(at) : clockText(at)}
    </time>
  );
}

interface TimeProps {
  /** ISO 8601, or ms since 1970. */
  at: string | number;
  isWhole?: boolean;
  isExact?: boolean;
}

/** Names and values; undefined values are left out. */
export function Facts({ rows }: { rows: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(rows).map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Headers of a request or a response; names may repeat. */
export function Headers({ headers }: { headers: readonly (readonly [name: string, value: string])[] }) {
  const rows = headers.map(([name, value], i) => [
    plain(name, 80) + (headers.slice(0, i).some(([it]) => it === name) ? ` (${i + 1})` : ""),
    <span key={i} class="mono">
      {plain(value, 4_000)} {value.includes("***") && <Badge tone="note">masked</Badge>}
    </span>,
  ]);
  return <Facts rows={Object.fromEntries(rows)} />;
}

/** Copies a string and confirms it. */
export function CopyButton({ text, label = "Copy", kind = "plain", icon }: CopyProps) {
  const [notice, setNotice] = useState("");
  const copy = async () => {
    const done = await copyText(typeof text === "function" ? text() : text);
    setNotice(done ? "Copied" : "Not copied");
    setTimeout(() => setNotice(""), 1_500);
  };
  return (
    <Button
      kind={kind}
      onClick={copy}
      class={icon && "button-icon"}
      title={icon && label}
      aria-label={notice === "" ? label : undefined}
    >
      {icon && <Icon of={notice === "Copied" ? "tick" : icon} />}
      <span class={icon && "unseen"} aria-live="polite">
        {notice === "" ? label : notice}
      </span>
    </Button>
  );
}

interface CopyProps {
  text: string | (() => string);
  label?: string;
  kind?: "plain" | "quiet" | "main";
  /** Shown instead of the label. */
  icon?: IconName;
}

/** Without access to the clipboard API (plain http to another host), copies by selection. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    // elements outside an open dialog cannot be selected
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A block of code with a copy button. */
export function Code({ text, label, kind = "quiet", most = Number.POSITIVE_INFINITY }: CodeProps) {
  const copy = <CopyButton text={text} kind={kind} />;
  const isCut = text.length > most;
  return (
    <figure class="code">
      {label === undefined ? (
        copy
      ) : (
        <figcaption>
          <span>
            {label}
            {isCut && ` · ${numberText(text.length)} characters, of which ${numberText(most)} are shown`}
          </span>
          {copy}
        </figcaption>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keyboard needs the focus */}
      <pre tabIndex={0}>
        <code>{isCut ? text.slice(0, most) : text}</code>
      </pre>
    </figure>
  );
}

interface CodeProps {
  text: string;
  label?: string;
  /** Kind of the copy button. */
  kind?: "quiet" | "main";
  /** Maximum number of drawn characters; all are copied. */
  most?: number;
}

/** A container that scrolls, also by keyboard; by default horizontally. */
export function Scrolled({ label, class: name = "scrolled", children }: ScrolledProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keyboard needs the focus
    <section class={name} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

interface ScrolledProps {
  label: string;
  class?: string;
  children: ComponentChildren;
}

/** An empty state: what appears here, and how to get it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function Trouble({ problem }: { problem: TroubleFacts }) {
  const { message, hint, pointer } = problem;
  return (
    <div class="trouble" role="alert">
      <Badge tone="bad">{message}</Badge>
      {pointer && (
        <p class="muted">
          at <code>{pointer}</code>
        </p>
      )}
      {hint && <p class="muted">{hint}</p>}
    </div>
  );
}

interface TroubleFacts {
  message: string;
  hint?: string | null | undefined;
  /** The part of the body or query that it is about. */
  pointer?: string | null | undefined;
}

export function Section({ title, actions, children }: SectionProps) {
  return (
    <section class="section">
      <header class="row">
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

interface SectionProps {
  title: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Counts in a row, optionally as links; a tone colours counts above 0. */
export function Tiles({ rows }: { rows: readonly TileRow[] }) {
  return (
    <div class="tiles">
      {rows.map(({ label, count, text = numberText(count), tone, href }) => {
        const Tile = href === undefined ? "div" : "a";
        return (
          <Tile key={label} class="tile" href={href}>
            <span class={`tile-value ${(count > 0 && tone) || ""}`}>{text}</span>
            <span class="small muted">{label}</span>
          </Tile>
        );
      })}
    </div>
  );
}

interface TileRow {
  readonly label: string;
  readonly count: number;
  /** The count as text, e.g. `at least 5`. */
  readonly text?: string;
  readonly tone?: "good" | "odd" | "bad" | "outcome-rejected";
  readonly href?: string;
}

/** A secret, masked until revealed; it can be copied without revealing it. */
export function Secret({ value, label }: { value: string; label: string }) {
  const [isSeen, setSeen] = useState(false);
  return (
    <span class="row">
      <code>{isSeen ? value : `${value.slice(0, 4)}${"•".repeat(8)}`}</code>
      <Button kind="quiet" onClick={() => setSeen(!isSeen)}>
        {isSeen ? "Hide" : "Show"}
        <span class="unseen">{` the ${label}`}</span>
      </Button>
      <CopyButton text={value} kind="quiet" />
    </span>
  );
}

/** A sentence with `code` between backticks. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((part, i) =>
        // odd parts are between backticks
        i % 2 === 1 ? <code key={`${i} ${part}`}>{part}</code> : part,
      )}
    </>
  );
}
