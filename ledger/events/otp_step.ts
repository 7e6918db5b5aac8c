/** One step of sending a one-time code. */
export interface OtpStep {
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Identifier of the event: two equal steps are two steps. */
  readonly eventId: string;
  /** `requested`, `success`, `failed`, or a step not known here. */
  readonly status: string;
  /** On failure: a reason for people. */
  readonly detail: string | null;
  /** Country of the phone, ISO alpha-2. */
  readonly phoneCountry: string | null;
}
