/** Styles of a view that is loaded late, as text (build/page.mjs). */
declare module "*.css" {
  const text: string;
  export default text;
}
