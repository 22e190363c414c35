/** A request, as far as it is looked at. */
export interface Sighted {
  readonly method: string;
  readonly url: URL;
  /** Read only where it matters: bodies can be big. */
  body(): string;
}

interface Look {
  readonly methods: readonly string[];
  /** The end of the path: a reverse proxy puts its own prefix before it. */
  readonly path: RegExp;
  /** What must be true besides, where an app of its own may well have such a path. */
  readonly also?: (request: Sighted) => boolean;
}

const hasPublicKey = (text: string): boolean => /\bphc_\w{4,}/.test(text);

/** SDKs say how they packed the body, or which version they are; else the body has the project's key. */
const isFromSdk = ({ url, body }: Sighted): boolean =>
  ["compression", "ver"].some((name) => url.searchParams.has(name)) ||
  hasPublicKey(url.search) ||
  hasPublicKey(body());

const namesToken = ({ url }: Sighted): boolean =>
  ["token", "api_key"].some((name) => url.searchParams.has(name));

/** What posthog-js and its relatives send. */
const looks: readonly Look[] = [
  {
    methods: ["POST", "GET"],
    path: /\/(?:e|s|batch|capture|track|engage|decide|flags|i\/v0\/e|i\/v0\/ai\/batch|i\/v1\/(?:analytics|ai)\/events)\/?$/,
    also: isFromSdk,
  },
  { methods: ["GET"], path: /\/array\/[^/]+\/(?:config(?:\.js)?|array\.js)$/ },
  { methods: ["GET"], path: /\/static\/array(?:\.full)?(?:\.[\w-]+)?\.js$/ },
  {
    methods: ["GET"],
    path: /\/api\/(?:surveys|early_access_features|product_tours|web_experiments)\/?$/,
    also: namesToken,
  },
];

/** Does a request look like one of PostHog's SDKs in a browser, whatever host it goes to? */
export const looksLikeSdk = (request: Sighted): boolean =>
  looks.some(
    ({ methods, path, also }) =>
      methods.includes(request.method) && path.test(request.url.pathname) && (also?.(request) ?? true),
  );
