import type { ComponentChildren } from "preact";
import { hashWords } from "../../../src/service/flags/explain/trace-words.ts";
import type { FlagSummary, HashTrace as Hash, VariantRange } from "../../../src/service/flags/shapes.ts";
import { plain } from "../text.ts";
import { drawnWords } from "./trace-words.ts";

/** Colours of variants. */
const tones = ["accent", "note", "good", "odd", "bad"] as const;

type Share = FlagSummary["shares"][number];

const percent = (share: number): string => `${Number(share.toFixed(4))} %`;

const textOfShares = (shares: readonly Share[]): string =>
  shares.map((it) => `${plain(it.variant, 40)} ${percent(it.percentage)}`).join(", ");

function Bar({ text, title, children }: { text: string; title: string; children: ComponentChildren }) {
  return (
    <svg class="flags-bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={text}>
      <title>{plain(title, 300)}</title>
      <rect class="flags-bar-ground" width={100} height={10} />
      {children}
    </svg>
  );
}

const BarMark = ({ at }: { at: number }) => (
  <rect class="flags-bar-mark" x={Math.min(99, at * 100)} width={1.2} height={10} />
);

/** Shares of variants, drawn to scale. */
export function Shares({ shares }: { shares: readonly Share[] }) {
  const starts = shares.map((_, i) => shares.slice(0, i).reduce((sum, it) => sum + it.percentage, 0));
  const text = textOfShares(shares);
  return (
    <div class="stack flags-shares">
      <Bar text={text} title={text}>
        {shares.map((it, i) => (
          <rect
            key={it.variant}
            class={`flags-bar-part ${tones[i % 5]}`}
            x={starts[i]}
            width={Math.max(0, it.percentage)}
            height={10}
          />
        ))}
      </Bar>
    </div>
  );
}

/** A hash and its threshold, drawn to scale. */
export function HashBar({ hash, threshold, isWithin, what }: HashBarProps) {
  const words = hashWords(hash, threshold, isWithin, what);
  return (
    <span class="row flags-hash">
      <Bar text={words} title={hash.input}>
        <rect class="flags-bar-in" width={Math.min(100, Math.max(0, threshold * 100))} height={10} />
        <BarMark at={hash.hash} />
      </Bar>
      <span class="muted">{words}</span>
    </span>
  );
}

interface HashBarProps {
  hash: Hash;
  threshold: number;
  isWithin: boolean;
  /** Name of the threshold, e.g. `rollout`. */
  what: string;
}

/** The variant that a hash selects. */
export function VariantBar({ ranges, hash }: VariantBarProps) {
  const words = drawnWords(hash, ranges);
  return (
    <span class="row flags-hash">
      <Bar text={words} title={hash.input}>
        {ranges.map((it, i) => (
          <rect
            key={it.variant}
            class={`flags-bar-part ${tones[i % 5]}${it.hit ? "" : " flags-bar-other"}`}
            x={it.from * 100}
            width={Math.max(0, it.to - it.from) * 100}
            height={10}
          />
        ))}
        <BarMark at={hash.hash} />
      </Bar>
      <span class="muted">{words}</span>
    </span>
  );
}

interface VariantBarProps {
  ranges: readonly VariantRange[];
  hash: Hash;
}
