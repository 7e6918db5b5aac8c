import { defined } from "../core/guards.ts";
import { type Fault, ValidationError } from "./errors.ts";

/** Throws one error for all faults. */
export function refuseFaults(action: string, faults: readonly Fault[]): void {
  if (faults.length > 0) throw new ValidationError(action, { faults });
}

/** Every field that a request does not have, with the name that was probably meant. */
export function unknownFields(
  input: object,
  known: readonly string[],
  meant: Readonly<Record<string, string>> = {},
): Fault[] {
  return Object.keys(input).filter((field) => !known.includes(field)).map((
    field,
  ) => ({
    field: clip(field),
    rule: `is not a field of this request; use ${
      Object.hasOwn(meant, field) ? meant[field] : `one of ${known.join(", ")}`
    }`,
  }));
}

/** The faults in fields to which rules are applied. */
export function without(
  extra: Readonly<Record<string, unknown>>,
  faults: readonly Fault[],
): readonly Fault[] {
  return faults.filter(({ field }) => !Object.hasOwn(extra, field));
}

/** The fields of an input whose types cannot be trusted, but undefined ones. */
export function fieldsOf(input: unknown): Record<string, unknown> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new TypeError(
      `Cannot check the input: it is ${describe(input)}; pass an object`,
    );
  }
  return defined(input as Record<string, unknown>);
}

/** Shows a value in bounded length; not for secrets or personal data. */
export function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(clip(value));
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
