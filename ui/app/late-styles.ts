/** Adds the styles of a view that is loaded late. A constructed sheet needs no request, and no exception in the policy. */
export function adopt(text: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets.push(sheet);
}
