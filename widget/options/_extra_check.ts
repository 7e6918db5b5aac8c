import { type AssetRules, wallet } from "./_asset_options.ts";
import { isRecord } from "../../core/guards.ts";
import { type Faults, listOf, shown, text, webAddress } from "./_checks.ts";
import type { SdkExtra } from "./sdk_options.ts";

const itemTexts = ["name", "category", "header", "author", "seller"];
const itemAddresses = ["image_url", "author_image_url"];

/** Checks `extra`, and makes it afresh so that it can be sent by message. */
export function extra(
  value: unknown,
  rules: AssetRules,
  faults: Faults,
): SdkExtra | undefined {
  if (!isRecord(value)) {
    const hint = `is ${shown(value)}; use { wallets, item_info }, no string`;
    return faults.add("type", "extra", value, hint);
  }
  const out: SdkExtra = {};
  for (const name of Object.keys(value)) {
    if (["wallets", "item_info"].includes(name)) continue;
    const hint = "is unknown; use wallets and item_info";
    faults.add("unknown", `extra.${name}`, value[name], hint);
  }
  if (value.wallets !== undefined) {
    const check = listOf(wallet(rules), ({ name, network }) => {
      return `${name} ${network}`;
    });
    const wallets = check(value.wallets, "extra.wallets", faults);
    if (wallets !== undefined) out.wallets = wallets;
  }
  if (value.item_info !== undefined) {
    const item = itemInfo(value.item_info, faults);
    if (item !== undefined) out.item_info = item;
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

function itemInfo(
  value: unknown,
  faults: Faults,
): Record<string, string> | undefined {
  const path = "extra.item_info";
  if (!isRecord(value)) {
    return faults.add("type", path, value, `is ${shown(value)}, no object`);
  }
  const out: Record<string, string> = {};
  for (const [name, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    const at = `${path}.${name}`;
    const max = name === "name" || name === "category" ? 40 : 255;
    const check = itemTexts.includes(name)
      ? text({ hint: "text", max })
      : itemAddresses.includes(name)
      ? webAddress
      : null;
    const checked = check?.(entry, at, faults);
    if (checked !== undefined) out[name] = checked;
    if (check !== null) continue;
    const hint = `is unknown; use ${
      [...itemTexts, ...itemAddresses].join(", ")
    }`;
    faults.add("unknown", at, entry, hint);
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

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
