import type { OrderInput } from "./entity_factory.ts";
import type { SessionStore } from "./session_store.ts";

/**
 * What an order of a session is made of: what is said of the order, and what its
 * session says beside it.
 *
 * @param input What is said of it: its session, or the click id that the widget
 * was opened with.
 * @param sessions The sessions of the service.
 */
export function inSession(
  input: OrderInput,
  sessions: Pick<SessionStore, "get" | "ofClick">,
): OrderInput {
  const { sessionId, clickId } = input;
  const session = sessionId
    ? sessions.get(sessionId)
    : clickId
    ? sessions.ofClick(clickId)
    : null;
  if (session === null) return input;
  const hasAmount = input.currencyAmount !== undefined ||
    input.cryptoAmount !== undefined;
  const hasAsset = input.commodity !== undefined || input.network !== undefined;
  const said: Record<string, unknown> = {
    sessionId: session.sessionId,
    clickId: session.clickId,
    userId: session.userId,
    cryptoType: "simple",
    address: session.walletAddress,
    currency: session.currency,
    ...hasAsset
      ? {}
      : { commodity: session.commodity, network: session.network },
    // The service ignores the asset amount where both are stated.
    ...hasAmount
      ? {}
      : session.currencyAmount !== null
      ? { currencyAmount: session.currencyAmount }
      : { cryptoAmount: session.commodityAmount },
  };
  const known = Object.entries(said).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(known), ...given(input) };
}

function given(input: OrderInput): OrderInput {
  return Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== undefined),
  );
}
