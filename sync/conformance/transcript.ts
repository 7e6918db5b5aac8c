import { isRecord } from "../../core/guards.ts";
import {
  ASSUMPTION_NAMES,
  type AssumptionName,
} from "../../core/assumptions/assumptions.ts";
import {
  type Fact,
  type Facts,
  NOT_SEEN_REASONS,
  type Observation,
  type Observations,
} from "./observing/observation.ts";

/**
 * What was seen of the service, to be shown, kept, and judged again. It holds no
 * key, identifier, amount or address: counts, statuses, kinds of values, forms
 * of times, documented words and names of fields.
 */
export interface Transcript {
  /** Form of the transcript. */
  readonly form: 1;
  /** Version of this package that looked. */
  readonly version: string;
  /** Environment of the service. */
  readonly environment: "production" | "sandbox";
  /** Day on which it looked, UTC. */
  readonly day: string;
  /** What was seen of each assumption. */
  readonly observations: Observations;
}

/** A transcript as text: one row a line, so that two can be compared. */
export function writeTranscript(transcript: Transcript): string {
  const { observations, ...head } = transcript;
  const rows = ASSUMPTION_NAMES.filter((name) => name in observations).map(
    (name) =>
      `    ${JSON.stringify(name)}: ${JSON.stringify(observations[name])}`,
  );
  const fields = Object.entries(head).map(([name, value]) =>
    `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`
  );
  return [
    "{",
    ...fields,
    '  "observations": {',
    rows.join(",\n"),
    "  }",
    "}",
    "",
  ].join("\n");
}

/**
 * Reads a transcript. Rows that this version does not know are left out.
 *
 * @throws {SyntaxError} When the text is not a transcript.
 */
export function readTranscript(text: string): Transcript {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SyntaxError("Cannot read the transcript: it is not JSON");
  }
  if (!isRecord(value) || value.form !== 1) {
    throw new SyntaxError(
      `Cannot read the transcript: its form is ${
        isRecord(value) ? JSON.stringify(value.form) ?? "missing" : "missing"
      }, and this version reads form 1`,
    );
  }
  const { version, environment, day, observations } = value;
  if (
    typeof version !== "string" || typeof day !== "string" ||
    (environment !== "production" && environment !== "sandbox") ||
    !isRecord(observations)
  ) {
    throw new SyntaxError(
      "Cannot read the transcript: version, day, environment or observations " +
        "are missing or of another kind",
    );
  }
  const read: Partial<Record<AssumptionName, Observation>> = {};
  for (const name of ASSUMPTION_NAMES) {
    const seen = observations[name];
    if (seen !== undefined) read[name] = readObservation(name, seen);
  }
  return { form: 1, version, environment, day, observations: read };
}

function readObservation(name: string, seen: unknown): Observation {
  if (isRecord(seen)) {
    const reason = NOT_SEEN_REASONS.find((one) => one === seen.notSeen);
    if (reason !== undefined) return { notSeen: reason };
    if (isFacts(seen.facts)) return { facts: seen.facts };
  }
  throw new SyntaxError(
    `Cannot read the transcript: "${name}" has neither facts nor a reason ` +
      "that this version knows",
  );
}

function isFacts(value: unknown): value is Facts {
  return isRecord(value) && Object.values(value).every(isFact);
}

function isFact(value: unknown): value is Fact {
  return value === null ||
    ["string", "number", "boolean"].includes(typeof value) ||
    (Array.isArray(value) && value.every((one) => typeof one === "string"));
}
