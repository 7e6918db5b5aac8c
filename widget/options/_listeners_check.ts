import { isRecord } from "../../core/guards.ts";
import { type Faults, shown } from "./_checks.ts";
import {
  listenerNames,
  sdkListeners,
  type WidgetListeners,
} from "./listeners.ts";
import type { SdkListeners } from "./sdk_options.ts";

/** Checks listeners, and puts their parsers before them. */
export function listeners(
  value: unknown,
  faults: Faults,
): SdkListeners | undefined {
  if (!isRecord(value)) {
    const hint = `is ${shown(value)}; use an object of functions`;
    return faults.add("type", "listeners", value, hint);
  }
  const before = faults.list.length;
  for (const [name, listener] of Object.entries(value)) {
    const path = `listeners.${name}`;
    if (!(listenerNames as readonly string[]).includes(name)) {
      const hint = `is no event; use ${listenerNames.join(", ")}`;
      faults.add("unknown", path, listener, hint);
    } else if (listener !== undefined && typeof listener !== "function") {
      faults.add("type", path, listener, `is ${shown(listener)}, no function`);
    }
  }
  if (faults.list.length > before) return undefined;
  return sdkListeners(value as WidgetListeners);
}
