import { sessionValidityMs } from "../core/rules/session_limits.ts";
import type { SandboxClock } from "./clock.ts";
import type { Factory } from "./factory.ts";

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
const OPEN_SESSION: SessionRequest = {
  ...{ flowType: "simple", userId: null, commodity: null, network: null },
  ...{ commodityAmount: null, currency: null, currencyAmount: null },
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

/** Every session. Each can be opened once, within thirty seconds. */
export class SessionStore {
  readonly #clock: SandboxClock;
  readonly #factory: Factory;
  readonly #sessions = new Map<string, WidgetSession>();
  readonly #used = new Set<string>();
  readonly #ofClick = new Map<string, string>();

  constructor(clock: SandboxClock, factory: Factory) {
    this.#clock = clock;
    this.#factory = factory;
  }

  create(request: SessionRequest = OPEN_SESSION): WidgetSession {
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

  get(sessionId: string): WidgetSession | null {
    return this.#sessions.get(sessionId) ?? null;
  }

  /** The session whose widget was opened with this click id last, or null. */
  ofClick(clickId: string): WidgetSession | null {
    return this.get(this.#ofClick.get(clickId) ?? "");
  }

  /** Opens a session, or tells why it cannot be opened. */
  open(
    sessionId: string,
    clickId: string,
  ): WidgetSession | "unknown" | "expired" | "used" {
    const session = this.#sessions.get(sessionId);
    if (!session) return "unknown";
    if (this.#used.has(sessionId)) return "used";
    if (this.#clock.now() - session.createdMs > sessionValidityMs) {
      return "expired";
    }
    this.#used.add(sessionId);
    if (clickId === "") return session;
    const opened = { ...session, clickId };
    this.#sessions.set(sessionId, opened);
    this.#ofClick.set(clickId, sessionId);
    return opened;
  }
}
