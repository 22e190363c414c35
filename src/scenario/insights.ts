import type { Path } from "../base/json-pointer.ts";
import { blankInsight } from "../world/blank.ts";
import { tidyTags } from "../world/tags.ts";
import type { Insight, Project } from "../world/world.ts";
import type { Building } from "./building.ts";
import { derivedLetters } from "./derive.ts";
import { createNames, type Names } from "./names.ts";
import type { AuthoredInsight } from "./schemas/dashboard.ts";
import { beginning, timeOr } from "./times.ts";

/** Adds a project's insights. @returns them by name, for the tiles. */
export function addInsights(
  building: Building,
  project: Project,
  authored: readonly AuthoredInsight[],
  at: Path,
): Names<Insight> {
  const names = createNames<Insight>("insight", building.problems);
  for (const [i, one] of authored.entries()) {
    const insight = insightOf(building, project, one, [...at, i]);
    building.world.insights.push(insight);
    names.add(insight, { name: one.name });
  }
  return names;
}

function insightOf(building: Building, project: Project, authored: AuthoredInsight, at: Path): Insight {
  const id = building.number("insights", authored.id, at);
  const author = building.author(authored.created_by, [...at, "created_by"]);
  const created = timeOr(authored.created_at, beginning);
  const shortId = authored.short_id ?? derivedLetters(`insight:${project.api_key}/${id}`, 8);
  building.claim(`short_id in project ${project.id}`, shortId, [...at, "short_id"]);
  return blankInsight(
    {
      saved: true,
      ...authored,
      id,
      short_id: shortId,
      project: project.id,
      tags: tidyTags(authored.tags ?? []),
      created_at: created,
      created_by: author,
      last_modified_at: created,
      last_modified_by: author,
    },
    beginning,
  );
}
