import type { Persona, PersonaName } from "./shapes.ts";

const evenings = [2, 1, 1, 1, 1, 1, 2, 4, 6, 7, 7, 8, 9, 8, 7, 7, 8, 9, 11, 13, 14, 12, 8, 4];
const officeHours = [1, 1, 1, 1, 1, 1, 2, 5, 11, 14, 14, 12, 9, 12, 14, 13, 11, 8, 4, 3, 2, 2, 1, 1];

const browsers = {
  $browser: { one_of: { Chrome: 62, Safari: 22, Firefox: 9, "Microsoft Edge": 7 } },
  $os: { one_of: { Windows: 40, "Mac OS X": 22, iOS: 20, Android: 15, Linux: 3 } },
  $device_type: { one_of: { Desktop: 61, Mobile: 34, Tablet: 5 } },
} as const;

const product = {
  product: { one_of: { "Fern, small": 24, "Fern, large": 16, "Book of moss": 22, "Clay pot": 28, "Gift card": 10 } },
  price: { from: 6, to: 120, decimals: 2, spread: "low" },
} as const;

const shopper: Persona = {
  name: "shopper",
  description: "A customer of a web shop: looks at products, fills a basket, and some of them order.",
  steps: [
    { event: "$pageview", times: [1, 3], properties: { $current_url: "https://shop.example/", $pathname: "/" } },
    { event: "product viewed", rate: 0.72, times: [1, 4], properties: product },
    { event: "added to basket", rate: 0.45, after: ["10s", "4m"], times: [1, 2], properties: product },
    { event: "checkout started", rate: 0.6, after: ["20s", "10m"], identify: true },
    {
      event: "order placed",
      rate: 0.7,
      after: ["1m", "15m"],
      properties: {
        order_id: { id: "order-" },
        revenue: { from: 9, to: 260, decimals: 2, spread: "low" },
        currency: "EUR",
        payment: { one_of: { card: 55, paypal: 30, invoice: 15 } },
      },
    },
  ],
  returns: { weeks: [0.34, 0.26, 0.22, 0.19, 0.17, 0.15], visits: [1, 2] },
  person: {
    email: "shopper-{n}@example.test",
    country: { one_of: { DE: 46, AT: 14, CH: 10, NL: 16, DK: 14 } },
    loyalty: { one_of: { none: 70, silver: 22, gold: 8 } },
  },
  properties: browsers,
  session: { $geoip_country_code: { one_of: { DE: 46, AT: 14, CH: 10, NL: 16, DK: 14 } } },
  utm: [
    { weight: 48 },
    { weight: 26, source: "google", medium: "cpc", campaign: "spring" },
    { weight: 16, source: "newsletter", medium: "email", campaign: "weekly" },
    { weight: 10, source: "instagram", medium: "social" },
  ],
  flags: { "new-checkout": { variants: { control: 50, test: 50 }, at: "checkout started" } },
  hours: evenings,
  weekdays: [9, 9, 9, 10, 11, 14, 15],
  funnel: { steps: ["product viewed", "added to basket", "checkout started", "order placed"] },
  revenue: { event: "order placed", property: "revenue" },
};

const saas: Persona = {
  name: "saas",
  description: "A user of a product for teams: signs up, invites others, becomes active, and some subscribe.",
  steps: [
    { event: "$pageview", properties: { $current_url: "https://app.example/signup", $pathname: "/signup" } },
    {
      event: "signed up",
      rate: 0.55,
      after: ["30s", "6m"],
      identify: true,
      properties: { method: { one_of: { email: 45, google: 40, sso: 15 } } },
    },
    { event: "teammate invited", rate: 0.48, after: ["2m", "1d"], times: [1, 4] },
    { event: "activated", rate: 0.7, after: ["10m", "4d"], set: { activated: true } },
    {
      event: "subscription started",
      rate: 0.38,
      after: ["1d", "12d"],
      properties: { plan: { one_of: { team: 70, business: 30 } }, amount: { from: 29, to: 499 }, currency: "USD" },
      set: { paying: true },
    },
  ],
  returns: {
    weeks: [0.72, 0.64, 0.58, 0.54, 0.51, 0.49, 0.47],
    visits: [1, 4],
    only_after: "signed up",
    steps: [
      { event: "$pageview", properties: { $current_url: "https://app.example/home", $pathname: "/home" } },
      { event: "report opened", rate: 0.8, times: [1, 5], properties: { kind: { one_of: ["table", "chart", "map"] } } },
      { event: "report shared", rate: 0.22 },
    ],
  },
  person: { email: "user-{n}@example.test", role: { one_of: { engineer: 45, product: 30, marketing: 25 } } },
  properties: browsers,
  groups: {
    company: {
      members: [1, 9],
      properties: {
        name: "Company {n}",
        plan: { one_of: { free: 60, team: 28, business: 12 } },
        employees: { from: 2, to: 2000, spread: "low" },
      },
    },
  },
  flags: { "new-editor": { rollout: 40 } },
  hours: officeHours,
  weekdays: [19, 20, 20, 19, 16, 3, 3],
  funnel: { steps: ["signed up", "teammate invited", "activated", "subscription started"], window: "30d" },
  revenue: { event: "subscription started", property: "amount" },
};

const reader: Persona = {
  name: "reader",
  description: "A reader of a magazine: reads articles without an account, and some subscribe to the newsletter.",
  steps: [
    { event: "$pageview", properties: { $current_url: "https://magazine.example/", $pathname: "/" } },
    {
      event: "article opened",
      rate: 0.8,
      times: [1, 5],
      properties: {
        section: { one_of: { news: 40, culture: 25, science: 20, sport: 15 } },
        words: { from: 300, to: 4000, spread: "low" },
      },
    },
    { event: "article finished", rate: 0.42, after: ["1m", "12m"] },
    { event: "newsletter joined", rate: 0.06, after: ["5s", "1m"], identify: true },
  ],
  returns: { weeks: [0.46, 0.4, 0.37, 0.35], visits: [1, 3] },
  person: { email: "reader-{n}@example.test" },
  properties: browsers,
  utm: [
    { weight: 60 },
    { weight: 25, source: "google", medium: "organic" },
    { weight: 15, source: "mastodon", medium: "social" },
  ],
  hours: evenings,
  weekdays: [13, 13, 13, 13, 13, 16, 19],
  funnel: { steps: ["article opened", "article finished", "newsletter joined"], window: "7d" },
};

export const personas: Readonly<Record<PersonaName, Persona>> = { shopper, saas, reader };

/** A built-in persona by its name; a persona itself. */
export const personaOf = (persona: PersonaName | Persona): Persona =>
  typeof persona === "string" ? personas[persona] : persona;
