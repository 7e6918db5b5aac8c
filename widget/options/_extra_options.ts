import { type Faults, shown } from "./_faults.ts";

/** What decides who is paid and where the widget opens is never extra. */
const ours = ["partner_id", "session_id", "origin", "listeners", "extra"];

/** Options that are newer than this version: kept as they are. */
export function extraOptions(
  given: Readonly<Record<string, unknown>>,
  faults: Faults,
): Readonly<Record<string, unknown>> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const path = `extraOptions.${name}`;
    if (ours.includes(name)) {
      faults.add("conflict", path, value, "cannot be replaced; leave it out");
    } else if (
      value !== true && !Number.isFinite(value) &&
      (typeof value !== "string" || value === "")
    ) {
      const hint = `is ${shown(value)}; use a text, a number or true, which ` +
        "the SDK can pass on";
      faults.add("type", path, value, hint);
    } else kept[name] = value;
  }
  return kept;
}
