import type { WidgetFault, WidgetFaultCode } from "./options_error.ts";

/**
 * Checks one value and gives what the SDK wants, or undefined after adding a
 * fault. Values that are undefined never get here.
 */
export type Check<Out> = (
  value: unknown,
  path: string,
  faults: Faults,
) => Out | undefined;

/** Text of a form; `secret` or personal values stay out of the message. */
export function text(rule: {
  readonly form?: RegExp;
  readonly accepts?: (text: string) => boolean;
  readonly hint: string;
  readonly min?: number;
  readonly max?: number;
  readonly isPersonal?: boolean;
}): Check<string> {
  const { form, accepts, hint, min = 1, max = 2048, isPersonal = false } = rule;
  return (value, path, faults) => {
    const is = isPersonal ? "is wrong" : `is ${shown(value)}`;
    if (typeof value !== "string") {
      return faults.add("type", path, value, `is not a string; use ${hint}`);
    }
    if (value === "") {
      return faults.add("required", path, value, `is empty; use ${hint}`);
    }
    if (value.length < min || value.length > max) {
      const between = `${min} to ${max} characters`;
      return faults.add(
        "length",
        path,
        value,
        `has ${value.length} characters, not ${between}; use ${hint}`,
      );
    }
    if (form?.test(value) === false || accepts?.(value) === false) {
      return faults.add("format", path, value, `${is}; use ${hint}`);
    }
    return value;
  };
}

/** True, or nothing: the SDK would count a `false` in the address as true. */
export function flag(
  value: unknown,
  path: string,
  faults: Faults,
): true | undefined {
  if (typeof value === "boolean") return value || undefined;
  return faults.add(
    "type",
    path,
    value,
    `is ${shown(value)}; use true or false, no string: the widget counts any ` +
      "value as true",
  );
}

/** One of a list. */
export function oneOf(list: readonly string[]): Check<string> {
  return (value, path, faults) => {
    if (typeof value === "string" && list.includes(value)) return value;
    const code = typeof value === "string" ? "unlisted" : "type";
    const is = `is ${shown(value)}; use ${list.join(", ")}`;
    return faults.add(code, path, value, is);
  };
}

/** A list of several, not empty, without repeats. */
export function listOf<Out>(
  item: Check<Out>,
  sameness: (out: Out) => string,
): Check<Out[]> {
  return (value, path, faults) => {
    if (!Array.isArray(value)) {
      return faults.add("type", path, value, `is ${shown(value)}, no array`);
    }
    if (value.length === 0) {
      return faults.add(
        "required",
        path,
        value,
        "is an empty array; leave the option out or fill it",
      );
    }
    const before = faults.list.length;
    const seen = new Set<string>();
    const checked: Out[] = [];
    value.forEach((entry: unknown, i) => {
      const at = `${path}[${i}]`;
      const out = item(entry, at, faults);
      if (out === undefined) return;
      const key = sameness(out);
      if (seen.has(key)) faults.add("duplicate", at, entry, "is named twice");
      seen.add(key);
      checked.push(out);
    });
    return faults.list.length === before ? checked : undefined;
  };
}

/** An absolute web address. */
export function webAddress(
  value: unknown,
  path: string,
  faults: Faults,
): string | undefined {
  const url = typeof value === "string" && URL.canParse(value)
    ? new URL(value)
    : null;
  if (url !== null && /^https?:$/.test(url.protocol)) return String(value);
  return faults.add(
    typeof value === "string" ? "format" : "type",
    path,
    value,
    `is ${shown(value)}; use a full http or https address`,
  );
}

/**
 * A decimal string that a number holds exactly and prints without exponent,
 * because the SDK writes the number into an address.
 */
export function amount(decimals: number): Check<number> {
  return (value, path, faults) => {
    const is = `is ${shown(value)}`;
    if (typeof value !== "string") {
      const hint = `${is}; use a decimal string such as "25.50"`;
      return faults.add("type", path, value, hint);
    }
    if (!/^(0|[1-9]\d*)(\.\d+)?$/.test(value)) {
      const hint = `${is}; use digits with at most one point, such as "25.50"`;
      return faults.add("format", path, value, hint);
    }
    const plain = value.includes(".") ? value.replace(/\.?0+$/, "") : value;
    if (plain === "0") {
      return faults.add("range", path, value, "is zero; use more, or none");
    }
    if ((plain.split(".")[1] ?? "").length > decimals) {
      const hint = `${is}; use at most ${decimals} decimals`;
      return faults.add("range", path, value, hint);
    }
    if (String(Number(plain)) !== plain) {
      return faults.add(
        "inexact",
        path,
        value,
        `${is}, which the SDK cannot pass exactly; ask for it in the session`,
      );
    }
    return Number(plain);
  };
}

/** Collects faults, so that one error can report them all. */
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
