/** What there is in a page; in workers and old browsers not all of it. */
interface PageGlobals {
  Navigator?: { prototype: object };
  NavigatorUAData?: { prototype: object };
}

/**
 * Runs in the page, before its scripts. posthog-js captures nothing in a browser that looks driven: it reads
 * `navigator.webdriver`, the user agent and the brands. It must not refer to anything outside of itself.
 */
export function disguise(): void {
  const { Navigator, NavigatorUAData } = globalThis as PageGlobals;
  const plain = (text: unknown) => String(text).replaceAll("HeadlessChrome", "Chrome");
  const replace = (
    host: { prototype: object } | undefined,
    name: string,
    make: (value: unknown) => unknown,
  ) => {
    const before = host && Object.getOwnPropertyDescriptor(host.prototype, name);
    if (!host || !before?.get) return;
    const { get } = before;
    Object.defineProperty(host.prototype, name, {
      ...before,
      get(this: unknown) {
        return make(Reflect.apply(get, this, []));
      },
    });
  };
  const plainBrand = (it: { brand: string }) => ({ ...it, brand: plain(it.brand) });
  replace(Navigator, "webdriver", () => false);
  replace(Navigator, "userAgent", plain);
  replace(Navigator, "appVersion", plain);
  replace(NavigatorUAData, "brands", (brands) => (Array.isArray(brands) ? brands.map(plainBrand) : brands));
}

/** The same for what is sent: the user agent and the brands. */
export const disguisedHeader = (value: string): string => value.replaceAll("HeadlessChrome", "Chrome");
