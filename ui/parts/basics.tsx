import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Outcome } from "../../src/kernel/outcomes.ts";
import { clockText, dateText, exactText } from "./text.ts";
import type { Tone } from "./tone.ts";

const marks: Readonly<Record<Tone, string>> = {
  plain: "",
  good: "✓",
  odd: "!",
  bad: "✕",
  note: "◆",
  accent: "●",
};

/** A word or two about the state of something. */
export function Badge({ tone = "plain", children, title, isMarked = true }: BadgeProps) {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {isMarked && marks[tone] !== "" && (
        <span class="badge-mark" aria-hidden="true">
          {marks[tone]}
        </span>
      )}
      {children}
    </span>
  );
}

interface BadgeProps {
  tone?: Tone;
  title?: string | undefined;
  /** Shows the tone's mark; default true. */
  isMarked?: boolean;
  children: ComponentChildren;
}

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "kind"> & {
  /** `main`: what one came for; `quiet`: no frame; `danger`: cannot be undone. */
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

/** A label above, or for short ones beside, what is filled in. */
export function Field({ label, hint, children, isInline = false }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label class={isInline ? "field field-inline" : "field"}>
      <span class="field-label">{label}</span>
      {children}
      {hint !== undefined && <span class="field-hint">{hint}</span>}
    </label>
  );
}

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  isInline?: boolean;
  children: ComponentChildren;
}

/** A moment: the time of day; whole with its date, exact with milliseconds and zone, too. Its title is in UTC. */
export function Time({ at, isWhole = false, isExact = false }: TimeProps) {
  const iso = Number.isFinite(at) ? new Date(at).toISOString() : "";
  return (
    <time dateTime={iso} title={iso} class="time">
      {isExact ? exactText(at) : isWhole ? dateText(at) : clockText(at)}
    </time>
  );
}

interface TimeProps {
  at: number;
  isWhole?: boolean;
  isExact?: boolean;
}

/** Names and what they are. Rows that are undefined are left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren] | undefined)[] }) {
  return (
    <dl class="facts">
      {rows.map(
        (row) =>
          row && (
            <div key={row[0]}>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Puts text on the clipboard and says so. */
export function CopyButton({ text, label = "Copy", kind = "plain" }: CopyProps) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    const done = await copyText(typeof text === "function" ? text() : text);
    setSaid(done ? "Copied" : "Not copied");
    setTimeout(() => setSaid(""), 1_500);
  };
  return (
    <Button kind={kind} onClick={copy} aria-label={said === "" ? label : undefined}>
      <span aria-live="polite">{said === "" ? label : said}</span>
    </Button>
  );
}

interface CopyProps {
  text: string | (() => string);
  label?: string;
  kind?: "plain" | "quiet" | "main";
}

/** Where the page is not trusted with the clipboard (plain http to another host), a selection does it. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    // what is beside an open dialog cannot be selected
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Text to be copied whole, e.g. code. */
export function Code({ text, label }: { text: string; label?: string }) {
  return (
    <figure class="code">
      {label === undefined ? (
        <CopyButton text={text} kind="quiet" />
      ) : (
        <figcaption>
          {label}
          <CopyButton text={text} kind="quiet" />
        </figcaption>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

/** A wide table that scrolls within itself, also by the keyboard. */
export function Scrolled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="scrolled" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** Nothing here yet: what would be, and how it gets here. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** What went wrong, in the sim's words. */
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
  /** What of a body or a query it is about. */
  pointer?: string | null | undefined;
}

/** A titled part of a page. */
export function Section({ title, actions, children }: SectionProps) {
  return (
    <section class="section">
      <header>
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

/** Numbers beside each other; each may lead somewhere. */
export function Tiles({ rows }: { rows: readonly TileRow[] }) {
  return (
    <div class="tiles">
      {rows.map(({ label, value, tone = "plain", href }) => {
        const inside = (
          <>
            <span class="tile-value">{value}</span>
            <span class="tile-label">{label}</span>
          </>
        );
        return href === undefined ? (
          <div key={label} class={`tile tile-${tone}`}>
            {inside}
          </div>
        ) : (
          <a key={label} class={`tile tile-${tone}`} href={href}>
            {inside}
          </a>
        );
      })}
    </div>
  );
}

export interface TileRow {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly tone?: Tone | Outcome;
  readonly href?: string | undefined;
}

/** Something not everybody behind one's back should read: seen once asked for, copied without. */
export function Secret({ value, label }: { value: string; label: string }) {
  const [isSeen, setSeen] = useState(false);
  return (
    <span class="secret">
      <code>{isSeen ? value : `${value.slice(0, 4)}${"•".repeat(8)}`}</code>
      <Button kind="quiet" onClick={() => setSeen(!isSeen)}>
        {isSeen ? "Hide" : "Show"}
        <span class="unseen">{` the ${label}`}</span>
      </Button>
      <CopyButton text={value} kind="quiet" />
    </span>
  );
}
