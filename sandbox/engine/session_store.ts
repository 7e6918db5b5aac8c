import type { SandboxClock } from "../clocks/clock.ts";
import type { EntityFactory } from "./entity_factory.ts";

/** What a widget session was asked to lock. Amounts are decimal strings. */
export interface SessionRequest {
  readonly flowType: string;
  readonly userId: string | null;
  readonly commodity: string | null;
  readonly network: string | null;
  readonly commodityAmount: string | null;
  readonly currency: string | null;
  readonly currencyAmount: string | null;
  readonly walletAddress: string | null;
}

/** A session that locks nothing: the user chooses everything. */
export const OPEN_SESSION: SessionRequest = {
  flowType: "simple",
  userId: null,
  commodity: null,
  network: null,
  commodityAmount: null,
  currency: null,
  currencyAmount: null,
  walletAddress: null,
};

/** A widget session. */
export interface WidgetSession extends SessionRequest {
  readonly sessionId: string;
  readonly requestId: string;
  readonly createdMs: number;
  /** Click id that the widget was opened with; null before, or without one. */
  readonly clickId: string | null;
}

/** How long a session can be opened, in milliseconds. */
const SESSION_VALID_MS = 30_000;

/** Why a session cannot be opened. */
export type SessionRefusal = "unknown" | "expired" | "used";

/** Every session. Each can be opened once, within thirty seconds. */
export class SessionStore {
  readonly #factory: EntityFactory;
  readonly #clock: SandboxClock;
  readonly #sessions = new Map<string, WidgetSession>();
  readonly #used = new Set<string>();
  /** The session of each click id. */
  readonly #opened = new Map<string, string>();

  constructor(
    { factory, clock }: {
      readonly factory: EntityFactory;
      readonly clock: SandboxClock;
    },
  ) {
    this.#factory = factory;
    this.#clock = clock;
  }

  /** Creates a session. */
  create(request: SessionRequest): WidgetSession {
    const session: WidgetSession = {
      ...request,
      sessionId: this.#factory.uuid(),
      requestId: this.#factory.uuid(),
      createdMs: this.#clock.now(),
      clickId: null,
    };
    this.#sessions.set(session.sessionId, session);
    return session;
  }

  /** The session with this id, or null. */
  get(sessionId: string): WidgetSession | null {
    return this.#sessions.get(sessionId) ?? null;
  }

  /** The session whose widget was opened with this click id last, or null. */
  ofClick(clickId: string): WidgetSession | null {
    return this.get(this.#opened.get(clickId) ?? "");
  }

  /** Opens a session, or tells why it cannot be opened. */
  open(
    sessionId: string,
    clickId: string,
  ): { session: WidgetSession } | { refused: SessionRefusal } {
    const session = this.#sessions.get(sessionId);
    if (!session) return { refused: "unknown" };
    if (this.#used.has(sessionId)) return { refused: "used" };
    if (this.#clock.now() - session.createdMs > SESSION_VALID_MS) {
      return { refused: "expired" };
    }
    this.#used.add(sessionId);
    if (clickId === "") return { session };
    const opened = { ...session, clickId };
    this.#sessions.set(sessionId, opened);
    this.#opened.set(clickId, sessionId);
    return { session: opened };
  }
}
