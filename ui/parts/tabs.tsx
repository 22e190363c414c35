import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Parts of a view of which one is seen. Which one stands in the address: each tab is a link. */
export function Tabs({ label, tabs, current }: TabsProps) {
  const box = useRef<HTMLElement>(null);
  // where there is no room for all of them
  useLayoutEffect(() => {
    box.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={box}>
      {tabs.map(({ id, title, href, count }) => (
        <a key={id} href={href} class="tab" aria-current={id === current ? "page" : undefined}>
          {title}
          {count !== undefined && <span class="tab-count">{count}</span>}
        </a>
      ))}
    </nav>
  );
}

interface TabsProps {
  label: string;
  tabs: readonly {
    id: string;
    title: ComponentChildren;
    href: string;
    count?: number | string | undefined;
  }[];
  current: string;
}
