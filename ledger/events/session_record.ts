import type { SessionCreatedBody } from "./event.ts";

/**
 * A session to record: what was asked for and what was answered, in one object.
 * The client's request and answer fit, spread into it; other fields are left
 * out.
 */
export interface SessionToRecord extends
  Omit<
    SessionCreatedBody,
    | "session_id"
    | "request_id"
    | "flow_type"
    | "commodity_amount"
    | "currency_amount"
  > {
  /** Id of the session, as the service or as the client names it. */
  readonly session_id?: string;
  /** The same. */
  readonly sessionId?: string;
  /** Request id, where the service returned one. */
  readonly request_id?: string | null;
  /** The same. */
  readonly requestId?: string | null;
  /** `simple` or `simple_full_restrict`. @default "simple" */
  readonly flow_type?: string;
  /** Asset amount asked for: a decimal string, or a whole number. */
  readonly commodity_amount?: string | number;
  /** Fiat amount asked for, likewise. */
  readonly currency_amount?: string | number;
}

/** Each field that is stored. */
const FIELDS: Readonly<Record<keyof SessionCreatedBody, true>> = {
  session_id: true,
  request_id: true,
  click_id: true,
  reference: true,
  user_id: true,
  flow_type: true,
  commodity: true,
  network: true,
  commodity_amount: true,
  currency: true,
  currency_amount: true,
  wallet_address: true,
};

const NAMES: Readonly<Record<string, string>> = {
  sessionId: "session_id",
  requestId: "request_id",
};

/**
 * The fields that are stored of a session, in the order in which they came.
 *
 * @throws {TypeError} When it has no id.
 */
export function sessionBody(session: SessionToRecord): SessionCreatedBody {
  const fields: Record<string, string> = {};
  for (const [given, value] of Object.entries(session)) {
    const name = NAMES[given] ?? given;
    if (!Object.hasOwn(FIELDS, name)) continue;
    if (value !== undefined && value !== null) fields[name] = String(value);
  }
  const { session_id, flow_type = "simple" } = fields;
  if (session_id === undefined || session_id === "") {
    throw new TypeError("Cannot record a session: its session_id is missing");
  }
  return { ...fields, session_id, flow_type };
}
