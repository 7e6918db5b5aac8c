/**
 * Whether the widget takes a click id: letters, digits and `.~:@=_-`; other
 * characters percent-encoded.
 *
 * Source: service interface, "Widget initialisation", `click_id`.
 *
 * @param text The click id.
 */
export function isClickId(text: string): boolean {
  return /^(?:[\w.~:@=-]|%[\da-f]{2})+$/i.test(text);
}
