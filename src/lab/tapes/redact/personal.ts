import { isIP } from "node:net";
import { plainName } from "./names.ts";
import type { Spot } from "./walk.ts";

interface Fake {
  make(n: number): string;
  /** Finds made ones in a text; the groups are what `number` takes. */
  pattern: RegExp;
  number?(groups: string[]): number;
}

const numbered = (lead: string, tail = ""): Fake => ({
  make: (n) => `${lead}${n}${tail}`,
  pattern: new RegExp(`\\b${lead}(\\d{1,9})${tail.replaceAll(".", "\\.")}`, "g"),
});

/** RFC 2606 names, RFC 2544 and 3849 addresses, numbers kept for fiction. */
const fakes = {
  email: numbered("user", "@example.test"),
  ip: {
    make: (n) => `198.${18 + ((n >> 16) & 1)}.${(n >> 8) & 255}.${n & 255}`,
    pattern: /\b198\.(18|19)\.(\d{1,3})\.(\d{1,3})/g,
    number: ([a, b, c]) => (Number(a) - 18) * 65_536 + Number(b) * 256 + Number(c),
  },
  ip6: {
    make: (n) => `2001:db8::${n.toString(16)}`,
    pattern: /\b2001:db8::([\da-f]{1,6})/g,
    number: ([digits]) => Number.parseInt(digits ?? "", 16),
  },
  phone: {
    make: (n) => `+1555${String(100_000 + n).padStart(7, "0")}`,
    pattern: /\+1555(\d{7})\b/g,
    number: ([digits]) => Number(digits) - 100_000,
  },
  name: numbered("Person "),
  place: numbered("Place "),
  text: numbered("Personal "),
} satisfies Record<string, Fake>;

type FakeKind = keyof typeof fakes;

const allFakes: readonly (readonly [string, Fake])[] = Object.entries(fakes);

const isFake = (value: string): boolean => allFakes.some(([, { pattern }]) => value.match(pattern)?.[0] === value);

const highestIn = (text: string, { pattern, number = ([n]) => Number(n) }: Fake): number =>
  [...text.matchAll(pattern)].reduce((most, [, ...groups]) => Math.max(most, number(groups)), 0);

/** Names of fields as `plainName` makes them; `initial_` before them does not matter. */
const fields: readonly (readonly [RegExp, FakeKind])[] = [
  [/(?:^|_)e?mail(?:_address)?$/, "email"],
  [/^(?:ip|ip_address|remote_addr|x_forwarded_for|x_real_ip|client_ip|cf_connecting_ip|true_client_ip)$/, "ip"],
  [/(?:^|_)(?:phone|mobile|telephone)(?:_number)?$/, "phone"],
  [/^(?:first|last|full|given|family|middle|display|user)_?name$|^surname$/, "name"],
  [/^geoip_/, "place"],
  [
    /^(?:postal_code|postcode|zip|zip_code|street|street_address|address|birthday|birth_date|date_of_birth|ssn)$/,
    "text",
  ],
];

/** `name` is a person's in these objects only; elsewhere things have names. */
const personObjects = new Set(["$set", "$set_once", "person_properties", "$person_properties"]);

const isOfPerson = (around: readonly string[]): boolean => around.some((it) => personObjects.has(it));

function kindOf(name: string, spot: Spot): FakeKind | undefined {
  const plain = plainName(name).replace(/^initial_/, "");
  if (plain === "name" && isOfPerson(spot.around)) return "name";
  return fields.find(([pattern]) => pattern.test(plain))?.[1];
}

const emails = /[\w.%+-]{1,64}@(?:[A-Za-z\d-]{1,63}\.){1,8}[A-Za-z]{2,24}/g;

/** Values that are no address of a person: tests may expect them. */
const isPlain = (value: string): boolean => value === "" || value === "0" || value === "1";

/** Stand-ins by first appearance. `note` is called with each path that was changed. */
export function createPersonal(note: (path: string) => void) {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  const fake = (kind: FakeKind, value: string): string => {
    if (isFake(value)) return value;
    const key = `${kind} ${value}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const n = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, n);
    const made = fakes[kind].make(n);
    known.set(key, made);
    return made;
  };
  const replaced = (kind: FakeKind, value: string, path: string): string => {
    const made = kind === "ip" ? fakeAddresses(value, fake) : fake(kind, value);
    if (made !== value) note(path);
    return made;
  };
  return {
    reserve(text: string) {
      for (const [kind, it] of allFakes) counts.set(kind, Math.max(counts.get(kind) ?? 0, highestIn(text, it)));
    },
    /** A whole value of a field; undefined: it is not personal. */
    value(value: string | number, spot: Spot, path: string) {
      const kind = spot.name === undefined || isPlain(String(value)) ? undefined : kindOf(spot.name, spot);
      if (kind === undefined) return undefined;
      if (typeof value === "number") return numberFor(kind, value, path, note);
      if (kind === "email" && !value.includes("@")) return undefined;
      if (kind === "ip" && !/[.:]/.test(value)) return undefined;
      return replaced(kind, value, path);
    },
    /** Personal data with a recognizable form, anywhere in a text. */
    text: (text: string, path: string) =>
      text.includes("@") ? text.replace(emails, (found) => replaced("email", found, path)) : text,
  };
}

/** Stand-ins for personal data: equal values get equal ones over a tape, so that persons can still be joined. */
export type Personal = ReturnType<typeof createPersonal>;

/** Coordinates and the like; what is under other names is a count. */
function numberFor(kind: FakeKind, value: number, path: string, note: (path: string) => void): number | undefined {
  if (value === 0 || !["place", "phone", "text"].includes(kind)) return undefined;
  note(path);
  return 0;
}

const fakeAddresses = (list: string, fake: (kind: FakeKind, value: string) => string): string =>
  list
    .split(",")
    .map((part) => {
      const address = part.trim();
      return address === "" ? part : part.replace(address, fake(isIP(address) === 6 ? "ip6" : "ip", address));
    })
    .join(",");
