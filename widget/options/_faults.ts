import type { WidgetFault, WidgetFaultCode } from "./options_error.ts";

/** Gathers faults, so that one error can tell them all. */
export class Faults {
  readonly list: WidgetFault[] = [];

  /**
   * Adds a fault; `problem` continues a sentence that begins with the path.
   * What `path` names may be personal, then its value stays out of the text.
   */
  add(
    code: WidgetFaultCode,
    path: string,
    value: unknown,
    problem: string,
  ): undefined {
    this.list.push({ code, path, value, message: `${path} ${problem}` });
  }
}

/** A value for a message: short, on one line, and never throwing. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : plain(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function plain(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}
