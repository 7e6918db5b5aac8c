import { defined } from "../../core/guards.ts";
import type { Fault } from "../errors/validation_error.ts";

/** Collects every fault of one input, so that people see them all at once. */
export class Faults {
  /** The faults found so far, in the order of the rules. */
  readonly list: Fault[] = [];

  /** Notes one broken rule. */
  add(field: string, rule: string): void {
    this.list.push({ field, rule });
  }

  /** Notes every field that is not in `known`, with the name that was probably meant. */
  unknownFields(
    input: object,
    known: readonly string[],
    meant: Readonly<Record<string, string>> = {},
    prefix = "",
  ): void {
    for (const [field, value] of Object.entries(input)) {
      if (value === undefined || known.includes(field)) continue;
      const guess = Object.hasOwn(meant, field)
        ? `use ${meant[field]}`
        : `use one of ${known.join(", ")}`;
      this.add(
        prefix + clip(field),
        `is not a field of this request; ${guess}`,
      );
    }
  }
}

/** The fields of an input whose types cannot be trusted, but undefined ones. */
export function fieldsOf(input: unknown): Record<string, unknown> {
  return defined(objectOf(input));
}

/** An input whose types cannot be trusted, as an object with fields. */
export function objectOf(input: unknown): Record<string, unknown> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new TypeError(
      `Cannot check the input: it is ${describe(input)}; pass an object`,
    );
  }
  return input as Record<string, unknown>;
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
