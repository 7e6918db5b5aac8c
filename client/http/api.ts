import { type Fault, ValidationError } from "../errors/validation_error.ts";
import type { Environment } from "../../core/assets/environment.ts";
import type { Answer, Call } from "./transport.ts";

/** What the parts of a client ask for; the caller adds key, rate and retries. */
export interface Ask extends Omit<Call, "redact"> {
  /** Texts that must not appear anywhere, beside the API key. */
  readonly secrets: readonly string[];
}

/** What the parts of a client share. */
export interface Api {
  readonly environment: Environment;
  readonly allowUnlistedAssets: boolean;
  /** Clock, milliseconds since 1970. */
  readonly now: () => number;
  readonly ask: (ask: Ask) => Promise<Answer>;
}

/** Throws one error for all faults. */
export function refuseFaults(action: string, faults: readonly Fault[]): void {
  if (faults.length > 0) throw new ValidationError(action, { faults });
}

/** Puts a query behind a path. */
export function withQuery(
  url: string,
  parameters: readonly (readonly [string, string])[],
): string {
  // By hand, because URLSearchParams costs more than the rest of the request.
  const query = parameters.map(([name, value]) =>
    `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  );
  return query.length === 0 ? url : `${url}?${query.join("&")}`;
}
