import type { OnrampErrorCode, OnrampErrorName } from "./error_codes.ts";

/** Facts of a failed call; every one of them is optional. */
export interface OnrampErrorFacts {
  /** HTTP status; null when there was no answer. @default {null} */
  readonly status?: number | null;
  /** Field at fault, in the service's spelling. @default {null} */
  readonly field?: string | null;
  /** Request identifier the service stated. @default {null} */
  readonly requestId?: string | null;
  /** Numeric code the service stated. @default {null} */
  readonly serviceCode?: number | null;
  /** Wording of the service, without secrets. @default {null} */
  readonly serviceMessage?: string | null;
  /** What caused it, without secrets. */
  readonly cause?: unknown;
}

/**
 * Base of every error the client throws for a call that failed.
 *
 * No error holds the API key, a card number, a header or a body.
 *
 * @example Tell our errors apart
 * ```ts
 * import { OnrampError, RateLimitError } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const error = new RateLimitError("Cannot read orders: too many requests", {
 *   status: 429,
 * });
 * assert.ok(error instanceof OnrampError);
 * assert.equal(error.retryable, true);
 * ```
 */
export abstract class OnrampError extends Error {
  /** Name of the class. */
  abstract override readonly name: OnrampErrorName;
  /** What went wrong, as a word to branch on. */
  abstract readonly code: OnrampErrorCode;
  /** Whether the same call may succeed later without being changed. */
  abstract readonly retryable: boolean;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Field at fault, in the service's spelling; null when none is named. */
  readonly field: string | null;
  /** Request identifier the service stated; null when it stated none. */
  readonly requestId: string | null;
  /** Numeric code the service stated; null when it stated none. */
  readonly serviceCode: number | null;
  /** Wording of the service, without secrets; null when it said nothing. */
  readonly serviceMessage: string | null;

  /** Takes what to say and the facts of the call. */
  constructor(message: string, facts: OnrampErrorFacts = {}) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.status = facts.status ?? null;
    this.field = facts.field ?? null;
    this.requestId = facts.requestId ?? null;
    this.serviceCode = facts.serviceCode ?? null;
    this.serviceMessage = facts.serviceMessage ?? null;
  }
}
