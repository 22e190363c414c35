import { z } from "zod";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { liveResource, liveResources } from "../../../state/documents/resources.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { FeatureFlag, StoredResource } from "../../../state/documents/world.ts";
import { found, numberIn } from "../../api-frame/access.ts";
import type { Changing } from "../../api-frame/changing.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { boolean, invalid, text } from "../../api-frame/fields.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { changeLinkedFlag } from "../../flags/management/linked-flags.ts";
import { checkLaunch, variantsOf } from "./experiment-checks.ts";
import { conclusion, conclusionComment, experiments, flagOfExperiment } from "./experiments.ts";
import { showResource } from "./kind-rows.ts";

/** What is done with experiments. Upstream PostHog/posthog products/experiments/backend/presentation/views.py. */

/** An action on an experiment: the fields that it changes. */
interface Action {
  readonly name: string;
  readonly summary: string;
  readonly body?: z.ZodType<JsonObject>;
  /** @throws SimError invalid_input */
  run(acting: Acting): JsonObject;
}

interface Acting {
  readonly experiment: StoredResource;
  /** Also a deleted one. */
  readonly flag: FeatureFlag | undefined;
  readonly body: JsonObject;
  readonly changing: Changing;
}

/** @throws SimError invalid_input */
function requireRunning({ experiment: { fields } }: Acting): void {
  if (!fields.start_date) throw invalid("Experiment has not been launched yet.");
  if (fields.end_date) throw invalid("Experiment has already ended.");
}

/** @throws SimError invalid_input */
function requireFlag({ flag }: Acting, detail = "Experiment does not have a feature flag linked."): FeatureFlag {
  if (!flag) throw invalid(detail);
  return flag;
}

const ending = { conclusion: conclusion(), conclusion_comment: conclusionComment() };

const released = {
  properties: [],
  rollout_percentage: 100,
  description: "Added automatically when the experiment was ended to keep only one variant.",
};

/** Filters that serve one variant: where the flag is on already, or to all. */
function shippedFilters(flag: FeatureFlag, variant: string, isForAll: boolean): JsonObject {
  const { aggregation_group_type_index = null, payloads = {}, groups = [] } = flag.filters as JsonObject;
  const own = Array.isArray(groups) ? groups : [];
  return {
    aggregation_group_type_index,
    payloads,
    multivariate: {
      variants: variantsOf(flag).map(({ key = "", name }) => ({
        key,
        rollout_percentage: key === variant ? 100 : 0,
        ...(name ? { name } : {}),
      })),
    },
    groups: isForAll ? [released, ...own] : own,
  };
}

/** Other experiments of the flag that are not archived. */
const othersOf = ({ experiment, flag, changing: { desk } }: Acting): StoredResource[] =>
  liveResources(desk.worlds.current, "experiments", experiment.project ?? 0).filter(
    (it) => it.id !== experiment.id && it.fields.archived !== true && flagOfExperiment(desk, it)?.id === flag?.id,
  );

const actions: readonly Action[] = [
  {
    name: "launch",
    summary: "Starts a draft now and switches its flag on",
    run({ experiment: { fields }, flag, changing }) {
      if (fields.start_date) throw invalid("Experiment has already been launched.");
      checkLaunch(flag);
      if (flag) changeLinkedFlag(changing, flag, { active: true });
      return { start_date: changing.now };
    },
  },
  {
    name: "pause",
    summary: "Switches the flag of a running experiment off",
    run(acting) {
      requireRunning(acting);
      const flag = requireFlag(acting);
      if (!flag.active) throw invalid("Experiment is already paused.");
      changeLinkedFlag(acting.changing, flag, { active: false });
      return {};
    },
  },
  {
    name: "resume",
    summary: "Switches the flag of a paused experiment on",
    run(acting) {
      requireRunning(acting);
      const flag = requireFlag(acting);
      if (flag.active) throw invalid("Experiment is not paused.");
      changeLinkedFlag(acting.changing, flag, { active: true });
      return {};
    },
  },
  {
    name: "end",
    summary: "Ends a running experiment now; its flag stays as it is",
    body: z.object(ending) as unknown as z.ZodType<JsonObject>,
    run(acting) {
      requireRunning(acting);
      const { conclusion = null, conclusion_comment = null } = acting.body;
      return { end_date: acting.changing.now, conclusion, conclusion_comment };
    },
  },
  {
    name: "ship_variant",
    summary: "Gives everyone one variant and ends an experiment that is running",
    body: z.object({
      variant_key: text(),
      release_to_everyone: boolean().optional(),
      ...ending,
    }) as unknown as z.ZodType<JsonObject>,
    run(acting) {
      const { experiment, body, changing } = acting;
      if (!experiment.fields.start_date) throw invalid("Experiment has not been launched yet.");
      const flag = requireFlag(acting, "Experiment does not have a linked feature flag.");
      const key = stringOf(body.variant_key);
      if (!variantsOf(flag).some((it) => it.key === key)) {
        throw invalid(`Variant '${key}' not found on feature flag.`);
      }
      changeLinkedFlag(changing, flag, { filters: shippedFilters(flag, key, body.release_to_everyone === true) });
      const { conclusion = null, conclusion_comment: comment = null } = body;
      return {
        ...(!experiment.fields.end_date && { end_date: changing.now }),
        ...(conclusion !== null && { conclusion }),
        ...(comment !== null && { conclusion_comment: comment }),
      };
    },
  },
  {
    name: "archive",
    summary: "Hides an experiment that has ended from the list",
    body: z.object({ disable_feature_flag: boolean().optional() }) as unknown as z.ZodType<JsonObject>,
    run(acting) {
      const { experiment, flag, body, changing } = acting;
      if (experiment.fields.archived === true) throw invalid("Experiment is already archived.");
      if (!experiment.fields.end_date) throw invalid("Experiment must be ended before it can be archived.");
      const isSwitchedOff = body.disable_feature_flag === true && flag?.active && !flag.deleted;
      if (flag && isSwitchedOff && othersOf(acting).length === 0) {
        changeLinkedFlag(changing, flag, { active: false });
      }
      return { archived: true };
    },
  },
  {
    name: "unarchive",
    summary: "Shows an archived experiment in the list again",
    run({ experiment }) {
      if (experiment.fields.archived !== true) throw invalid("Experiment is not archived.");
      return { archived: false };
    },
  },
  {
    name: "reset",
    summary: "Makes an experiment a draft again; its flag stays as it is",
    run({ experiment }) {
      if (!experiment.fields.start_date) throw invalid("Experiment is already in draft state.");
      return { start_date: null, end_date: null, archived: false, conclusion: null, conclusion_comment: null };
    },
  },
];

const Reply = z.looseObject({
  id: z.int(),
  status: z.enum(["draft", "running", "paused", "exposure_frozen", "stopped"]),
});

/** The actions on experiments. */
export const experimentRows = (desk: ResourceDesk): Endpoint[] =>
  actions.flatMap(({ name, summary, body: shape, run }) =>
    managementRow<"project", JsonObject>(desk, {
      method: "POST",
      path: `${projectRoot}/experiments/:id/${name}`,
      summary,
      access: inProject("experiment:write"),
      ...(shape && { body: shape }),
      reply: Reply,
      handle(request: ProjectRequest<JsonObject>) {
        const key = found(numberIn(request.param("id")));
        const experiment = found(liveResource(desk.worlds, "experiments", request.project.id, key));
        const body = shape ? request.body() : {};
        const changed = desk.worlds.change((draft) => {
          const now = wireTime(desk.clock.now());
          const changing: Changing = { desk, draft, request, now };
          const flag = flagOfExperiment(desk, experiment);
          const fields = run({ experiment, flag, body, changing });
          return draft.put("resources", {
            ...experiment,
            fields: { ...experiment.fields, ...fields, updated_at: now },
          });
        });
        return showResource(desk, experiments, changed);
      },
    }),
  );
