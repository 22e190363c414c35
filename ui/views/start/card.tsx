import type { ComponentChildren } from "preact";

interface CardProps {
  title: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export const Card = ({ title, actions, children }: CardProps) => (
  <section class="start-card">
    <header>
      <h2>{title}</h2>
      {actions !== undefined && <span class="row end small">{actions}</span>}
    </header>
    <div class="start-in">{children}</div>
  </section>
);
