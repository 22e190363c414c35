/** Events of these are shown; more names would hide what the link is about. */
const mostNames = 4;
/** Longer ones are cut by terminals and by reports. */
const longest = 200;

/** A name as the grammar of filters takes it: in quotes where it has more than letters. */
const valueText = (name: string): string =>
  /^[\w$-]+$/.test(name) ? name : `"${name.replace(/[\\"]/g, "\\$&")}"`;

interface Place {
  url: string;
  project: { id: number } | null;
}

/**
 * The address of the inspector's list of events, as `hrefTo` of ui/app/route.ts writes it.
 * @param names Only events with these names; all of them when there are none, or too many to be told
 */
export function inspectLink({ url, project }: Place, names: readonly string[]): string {
  const scope: [string, string][] = project === null ? [] : [["project", `${project.id}`]];
  const text = [...new Set(names)].slice(0, mostNames).map(valueText).join(",");
  const filter: [string, string][] = text === "" ? [] : [["f", `event:${text}`]];
  const linked = (pairs: [string, string][]): string =>
    `${url}/__sim/#/events${pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`}`;
  const whole = linked([...scope, ...filter]);
  return whole.length > longest ? linked(scope) : whole;
}
