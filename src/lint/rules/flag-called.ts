import { madeIn, recentMap } from "../recent-map.ts";
import type { LintEvent, LintRequest, Remarks, Rule, RuleContext } from "../types.ts";

const mostIds = 2_000;
/** Flags remembered per id. */
const mostFlags = 100;

/** A flag that was asked for by name. */
interface Asked {
  sender: string;
  at: number;
}

interface Known {
  /** Flags for which a $feature_flag_called came. */
  called: Set<string>;
  asked: Map<string, Asked>;
}

const blank = (): Known => ({ called: new Set(), asked: new Map() });

/** They say who somebody is, not what was done. */
const aboutPeople: ReadonlySet<string> = new Set(["$identify", "$create_alias", "$set", "$groupidentify"]);

const subjectOf = (flag: string, id: string): string => JSON.stringify([flag, id]);

/**
 * `feature_flag_called_missing`. Browsers are given all flags at once, whatever the app looks at, so only flags that a
 * server's SDK asked for by name count, and only what the same SDK sent afterwards. SDKs tell each call once: where
 * part of the traffic was not seen, nothing can be said.
 */
export function flagCalled({ isWhole }: RuleContext): Rule {
  const ids = recentMap<string, Known>(mostIds);

  function remember({ serving, sender, answeredAt }: LintRequest): void {
    if (!serving || sender === undefined) return;
    const { asked } = madeIn(ids, serving.distinctId, blank);
    for (const flag of serving.asked) {
      const value = serving.values?.get(flag);
      if (value === undefined || value === false || asked.has(flag) || asked.size >= mostFlags) continue;
      asked.set(flag, { sender, at: answeredAt });
    }
  }

  function hear({ distinct_id, properties }: LintEvent, { withdraw }: Remarks): void {
    const flag = properties.$feature_flag;
    const { called } = madeIn(ids, distinct_id, blank);
    if (typeof flag !== "string" || called.size >= mostFlags) return;
    called.add(flag);
    withdraw("feature_flag_called_missing", subjectOf(flag, distinct_id));
  }

  function miss({ event, distinct_id, time, seq, properties }: LintEvent, { tell }: Remarks): void {
    const known = ids.get(distinct_id);
    if (!known || aboutPeople.has(event)) return;
    for (const [flag, { sender, at }] of known.asked) {
      if (known.called.has(flag) || properties.$lib !== sender || time < at) continue;
      const subject = subjectOf(flag, distinct_id);
      const detail = `${flag} was served to ${distinct_id}, and ${sender} told of no call`;
      tell({ code: "feature_flag_called_missing", event, subject, detail, seq });
    }
  }

  return {
    look(request, remarks) {
      remember(request);
      for (const it of request.events) {
        if (it.dropped !== undefined) continue;
        if (it.event === "$feature_flag_called") hear(it, remarks);
        else if (isWhole()) miss(it, remarks);
      }
    },
  };
}
