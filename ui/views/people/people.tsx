import { route } from "../../app/location.ts";
import { Groups } from "./groups.tsx";
import { Persons } from "./persons.tsx";

/** Persons and groups: `#/people`, `#/people/<id>`, `#/people/groups`, `#/people/groups/<type>/<key>`. */
export function PeopleView() {
  const [first, type, name] = route.value.path;
  if (first !== "groups") return <Persons id={first} />;
  return <Groups chosen={type === undefined || name === undefined ? undefined : { type, name }} />;
}
