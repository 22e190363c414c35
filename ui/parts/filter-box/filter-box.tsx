import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { completeFilter } from "../../../src/state/journal/filter/complete.ts";
import { readEventFilter, readRequestFilter } from "../../../src/state/journal/filter/read.ts";
import type { Completion, FilterKind, FilterProblem, KnownValues } from "../../../src/state/journal/filter/types.ts";
import { Button } from "../basics.tsx";
import { FilterHelp } from "./filter-help.tsx";
import { accepted, isBegun, markedText, nextOf } from "./filter-text.ts";

interface FilterBoxProps {
  kind: FilterKind;
  label: string;
  placeholder: string;
  /** The current filter. */
  value: string;
  /** Called with a valid filter, shortly after typing or immediately with Enter. */
  onApply(text: string): void;
  /** Known values for completion; called while typing. */
  known(): KnownValues;
  /** Problems that the sim reported. */
  problems?: readonly FilterProblem[] | undefined;
}

const readers = { events: readEventFilter, requests: readRequestFilter } as const;

/** Delay after the last key press, ms. */
const pause = 250;

const problemsOf = (kind: FilterKind, text: string): readonly FilterProblem[] => {
  const reading = readers[kind](text);
  return "problems" in reading ? reading.problems : [];
};

/** State of the filter box: text, completions, problems. */
function useFilterText({ kind, value, onApply, known }: FilterBoxProps) {
  const text = useSignal(value);
  const offers = useSignal<readonly Completion[]>([]);
  const active = useSignal(-1);
  const problems = useSignal<readonly FilterProblem[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const applied = useRef(value);

  useEffect(() => {
    if (applied.current === value) return;
    applied.current = value;
    text.value = value;
    problems.value = problemsOf(kind, value);
  }, [value, kind, text, problems]);
  useEffect(() => {
    problems.value = problemsOf(kind, text.peek());
    return () => clearTimeout(timer.current);
  }, [kind, text, problems]);

  function close(): void {
    offers.value = [];
    active.value = -1;
  }
  function apply(): void {
    clearTimeout(timer.current);
    const wrong = problemsOf(kind, text.value);
    problems.value = wrong;
    const wanted = text.value.trim();
    if (wrong.length > 0 || wanted === applied.current) return;
    applied.current = wanted;
    onApply(wanted);
  }
  function offer(caret: number): void {
    offers.value = completeFilter(text.value, caret, kind, known());
    active.value = -1;
  }
  function type(typed: string): void {
    text.value = typed;
    // while typing, problems are cleared but not added
    if (problems.value.length > 0) problems.value = problemsOf(kind, typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(apply, pause);
  }
  return { text, offers, active, problems, close, apply, offer, type };
}

/** A filter input with completion; problems are underlined and explained. */
export function FilterBox(props: FilterBoxProps) {
  const { kind, label, placeholder } = props;
  const it = useFilterText(props);
  const input = useRef<HTMLInputElement>(null);
  const under = useRef<HTMLDivElement>(null);
  const id = useId();
  const [isHelpOpen, showHelp] = useState(false);
  const isOpen = it.offers.value.length > 0;
  const current = it.problems.value.length > 0 ? it.problems.value : (props.problems ?? []);
  // no problems while completions are open
  const wrong = isOpen ? [] : current;

  function put(offer: Completion): void {
    const done = accepted(it.text.value, offer);
    it.type(done.text);
    const box = input.current;
    if (!box) return;
    box.value = done.text;
    box.focus();
    box.setSelectionRange(done.caret, done.caret);
    if (isBegun(offer)) it.offer(done.caret);
    else it.close();
  }
  function move(step: 1 | -1): true {
    if (!isOpen) it.offer(input.current?.selectionStart ?? 0);
    it.active.value = nextOf(it.active.value, it.offers.value.length, step);
    document.getElementById(`${id}-${it.active.value}`)?.scrollIntoView({ block: "nearest" });
    return true;
  }
  /** Key handlers; false: use the default action. */
  const keys: Readonly<Record<string, () => boolean>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Tab() {
      const offer = it.offers.value[Math.max(0, it.active.value)];
      if (offer) put(offer);
      return offer !== undefined;
    },
    Enter() {
      const offer = it.offers.value[it.active.value];
      if (offer) put(offer);
      else {
        it.close();
        it.apply();
      }
      return true;
    },
    Escape() {
      if (isOpen) it.close();
      else input.current?.blur();
      return true;
    },
  };

  return (
    <search class="filter-box" aria-label={label}>
      <div class="filter-box-line">
        <div class="filter-box-under" aria-hidden="true" ref={under}>
          {markedText(it.text.value, wrong).map((piece, i) => (
            <span key={i} class={piece.isWrong ? "is-wrong" : undefined}>
              {piece.text}
            </span>
          ))}
        </div>
        <input
          ref={input}
          class="input filter-box-input"
          type="text"
          role="combobox"
          data-filter
          aria-label={label}
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={it.active.value >= 0 ? `${id}-${it.active.value}` : undefined}
          aria-invalid={wrong.length > 0}
          aria-describedby={wrong.length > 0 ? `${id}-wrong` : undefined}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={placeholder}
          value={it.text.value}
          onInput={(event) => {
            it.type(event.currentTarget.value);
            it.offer(event.currentTarget.selectionStart ?? event.currentTarget.value.length);
          }}
          onScroll={(event) => {
            if (under.current) under.current.scrollLeft = event.currentTarget.scrollLeft;
          }}
          onBlur={it.close}
          onKeyDown={(event) => {
            if (!event.isComposing && !event.shiftKey && keys[event.key]?.()) event.preventDefault();
          }}
        />
        {it.text.value !== "" && (
          <Button
            kind="quiet"
            class="filter-box-empty"
            aria-label="Clear the filter"
            onClick={() => {
              it.type("");
              it.apply();
              input.current?.focus();
            }}
          >
            ✕
          </Button>
        )}
        <Button kind="quiet" aria-label="Filter syntax" onClick={() => showHelp(true)}>
          ?
        </Button>
      </div>
      <div class="filter-box-offers" role="listbox" id={`${id}-list`} aria-label="Completions" hidden={!isOpen}>
        {it.offers.value.map((offer, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's
          // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus
          <div
            key={offer.text}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === it.active.value}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => put(offer)}
          >
            <code>{offer.text}</code>
            <span class="cut">{offer.note}</span>
          </div>
        ))}
      </div>
      {wrong.length > 0 && (
        <p class="row muted small filter-box-wrong" id={`${id}-wrong`} role="status">
          <b>{wrong[0]?.message}</b>
          {wrong[0]?.hint !== undefined && <span>{wrong[0].hint}</span>}
        </p>
      )}
      {isHelpOpen && (
        <FilterHelp
          kind={kind}
          onClose={() => showHelp(false)}
          onExample={(example) => {
            it.type(`${it.text.value.trim()} ${example}`.trim());
            it.apply();
          }}
        />
      )}
    </search>
  );
}
