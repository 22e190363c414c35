/** Requests with a secret each, in every place where one can be. Nothing here is a real one: they are put together. */

export interface Planted {
  name: string;
  /** What must not be on a tape or in a log. */
  secret: string;
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: string | undefined;
}

const alphabet = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU";
const hexDigits = "0a1b2c3d4e5f6789";

/** Characters that depend on the row and the variant, so that no secret is part of another. */
function drawn(from: string, length: number, seed: number): string {
  let state = seed * 7919 + 17;
  return Array.from({ length }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return from[Math.floor(state / 65536) % from.length];
  }).join("");
}

const base64 = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");

type Make = (text: (length: number) => string, hex: (length: number) => string) => string;

/** How each kind looks. */
const kinds: Record<string, Make> = {
  personal_key: (text) => `phx_${text(40)}`,
  jwt: (text) => `eyJ${text(30)}.${text(50)}.${text(40)}`,
  sendgrid: (text) => `SG.${text(22)}.${text(43)}`,
  npm: (text) => `npm_${text(36)}`,
  gitlab: (text) => `glpat-${text(20)}`,
  twilio: (_, hex) => `SK${hex(32)}`,
  mailgun: (_, hex) => `key-${hex(32)}`,
  digitalocean: (_, hex) => `dop_v1_${hex(64)}`,
  telegram: (text) => `987654321:AA${text(33)}`,
  azure: (text) => `${text(86)}==`,
  github: (text) => `ghp_${text(36)}`,
  slack: (text) => `xoxb-${text(40)}`,
  stripe: (text) => `sk_live_${text(24)}`,
  aws: (text) => `AKIA${text(16).toUpperCase()}`,
  password: (text) => `hunter-${text(12)}`,
};

const cards = ["4111111111111111", "5555555555554444"];

interface Place {
  method?: string;
  target?: (secret: string) => string;
  headers?: (secret: string) => Record<string, string>;
  body?: (secret: string) => string;
  type?: string;
}

const form = "application/x-www-form-urlencoded";
const json = (make: (secret: string) => unknown): Place => ({ body: (it) => JSON.stringify(make(it)) });

/** Places for what can be recognised by its looks. */
const places: Record<string, Place> = {
  "free text in JSON": json((it) => ({ note: `please use ${it}, thanks` })),
  "a JSON value": json((it) => ({ list: [{ value: it }] })),
  "JSON in a JSON string": json((it) => ({ payload: JSON.stringify({ inner: it }) })),
  "base64 JSON": json((it) => ({ data: base64({ a: { b: it } }) })),
  "a query parameter": { method: "GET", target: (it) => `&q=${encodeURIComponent(it)}` },
  "a form field": { type: form, body: (it) => `a=1&note=${encodeURIComponent(it)}` },
  "plain text": { type: "text/plain", body: (it) => `the new one is ${it}\nbye` },
  "a header": { headers: (it) => ({ "x-note": `see ${it}` }), ...json(() => ({ a: 1 })) },
};

/** Places in which only the name says that it is one. */
const named: Record<string, Place> = {
  "an OAuth form": {
    type: form,
    body: (it) => `grant_type=client_credentials&client_id=shop&client_secret=${encodeURIComponent(it)}`,
  },
  "a URL's userinfo": json((it) => ({ webhook: `https://shop:${it}@hooks.example.com/a` })),
  "userinfo in a query": {
    method: "GET",
    target: (it) => `&url=${encodeURIComponent(`https://shop:${it}@hooks.example.com/`)}`,
  },
  "a password field": json((it) => ({ user: "ann", password: it })),
  "base64 JSON with a password": json((it) => ({ data: base64({ user: "ann", password: it }) })),
  "an auth header": { headers: (it) => ({ "x-shop-auth": it }), ...json(() => ({ b: 2 })) },
  "an authorization header": { headers: (it) => ({ authorization: `Bearer ${it}` }), method: "GET" },
  "a cookie": { headers: (it) => ({ cookie: `a=1; session=${it}` }), method: "GET" },
  "a multipart field": {
    type: "multipart/form-data; boundary=xyz",
    body: (it) => `--xyz\r\ncontent-disposition: form-data; name="api_key"\r\n\r\n${it}\r\n--xyz--\r\n`,
  },
};

const azurePlaces: Record<string, Place> = {
  "a connection string": json((it) => ({ to: `AccountName=shop;AccountKey=${it};EndpointSuffix=x` })),
};

function planted(row: number, name: string, secret: string, place: Place): Planted {
  const { method = "POST", target, headers, body, type = "application/json" } = place;
  return {
    name,
    secret,
    method,
    target: `/api/projects/1/things/?row=${row}${target?.(secret) ?? ""}`,
    headers: { ...(body && { "content-type": type }), ...headers?.(secret) },
    body: body?.(secret),
  };
}

/** The same requests with other secrets for each variant. */
export function plantedRequests(variant: number): Planted[] {
  const all: Planted[] = [];
  const add = (name: string, secret: string, place: Place) => all.push(planted(all.length, name, secret, place));
  const made = (make: Make) => {
    const seed = variant * 1000 + all.length;
    return make(
      (length) => drawn(alphabet, length, seed),
      (length) => drawn(hexDigits, length, seed),
    );
  };
  for (const [kind, make] of Object.entries(kinds)) {
    if (kind === "azure" || kind === "password") continue;
    for (const [at, place] of Object.entries(places)) add(`${kind} in ${at}`, made(make), place);
  }
  for (const [at, place] of Object.entries(named)) add(`a password in ${at}`, made(kinds.password as Make), place);
  for (const [at, place] of Object.entries(azurePlaces)) add(`azure in ${at}`, made(kinds.azure as Make), place);
  for (const [at, place] of Object.entries(places)) add(`a card in ${at}`, cards[variant % 2] ?? "", place);
  return all;
}
